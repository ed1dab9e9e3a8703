// What a fuzz target defines, and how it says that a promise was broken. The same target runs under
// libFuzzer and under the replay main.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include <pinfold/refusal.hpp>

namespace pinfold_fuzz {

/// One input. Returns when every promise held; never throws.
void try_input(std::span<const std::uint8_t> input);

/// What has to be taken away before the process ends as a crash; set by whoever made it.
inline void (*before_the_end)() = nullptr;

/// A promise is broken: says so and ends the process as a crash, which a fuzzer keeps.
[[noreturn]] inline void broken(std::string_view promise, std::string_view facts = {}) {
  std::fflush(nullptr);
  std::fprintf(stderr, "BROKEN: %.*s\n%.*s\n", static_cast<int>(promise.size()), promise.data(),
               static_cast<int>(facts.size()), facts.data());
  std::fflush(stderr);
  if (before_the_end != nullptr) before_the_end();
  std::abort();
}

inline void must(bool holds, std::string_view promise, std::string_view facts = {}) {
  if (!holds) broken(promise, facts);
}

/// A text between quotes, with control bytes escaped and long runs of one byte counted, for a
/// message.
inline std::string quoted(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const auto run = std::min(text.find_first_not_of(text.front()), text.size());
    shown += run > 9 ? std::string{text.front()} + "{" + std::to_string(run) + "}"
                     : std::string{text.substr(0, run)};
    text.remove_prefix(run);
  }
  std::string out;
  pinfold::append_quoted(out, shown);
  return out;
}

}  // namespace pinfold_fuzz
