// Base64 read back (RFC 4648, with padding): the other way of `base64_of`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// Nothing for what `base64_of` writes for no bytes at all.
[[nodiscard]] std::optional<std::string> bytes_of_base64(std::string_view text);

}  // namespace pinfold
