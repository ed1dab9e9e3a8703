// The same bytes, whole and in pieces: what a reader says of the beginning it may only add to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "egress/fault.hpp"
#include "support/target.hpp"

namespace pinfold_fuzz {

inline const std::string more = "more";
inline const std::string refused = "refused";

/// `must`, for texts that are long: they are quoted only where the promise is broken.
inline void must_hold(bool holds, std::string_view promise, std::string_view text) {
  if (!holds) broken(promise, quoted(text));
}

/// A reader's answer as a text; `show` is for what it has read.
template <class T, class Show>
std::string said(const pinfold::egress_bytes::reading<T>& answer, Show show) {
  if (!answer) return refused;
  return *answer ? show(**answer) : more;
}

/// What `read` says of all the bytes, once it has said the same, or that it needs more, of each
/// beginning that ends at one of `ends`. Each is in memory of its own, so that the address sanitizer
/// sees a byte too many being read.
template <class Read>
std::string said_of_all(std::string_view text, const std::vector<std::size_t>& ends, Read read) {
  const auto exactly = [&read](std::string_view part) {
    return read(std::string_view{std::vector<char>(part.begin(), part.end()).data(), part.size()});
  };
  const auto whole = exactly(text);
  for (const auto end : ends) {
    const auto now = exactly(text.substr(0, end));
    must_hold(now == more || now == whole, "what was said of the beginning stands", text);
  }
  return whole;
}

}  // namespace pinfold_fuzz
