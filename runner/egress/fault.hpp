// What is wrong with something that came from inside the sandbox.
#pragma once

#include <expected>
#include <optional>
#include <string_view>

#include <pinfold/error.hpp>

namespace pinfold::egress_bytes {

/// Why bytes are refused; the text is a literal.
struct fault {
  code error{code::invalid_request};
  std::string_view why;
};

/// What a reader says of the bytes so far: it, nothing while more are needed, or what is wrong.
template <class T>
using reading = std::expected<std::optional<T>, fault>;

[[nodiscard]] inline std::unexpected<fault> bad(std::string_view why,
                                                code error = code::invalid_request) {
  return std::unexpected{fault{error, why}};
}

}  // namespace pinfold::egress_bytes
