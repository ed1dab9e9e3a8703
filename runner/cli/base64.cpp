// See base64.hpp.
#include "cli/base64.hpp"

#include <cstdint>

#include "json/json.hpp"

namespace pinfold {
namespace {

constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::optional<std::string> bytes_of_base64(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (const char digit : text.substr(0, text.find('='))) {
    const auto value = digits.find(digit);
    if (value == std::string_view::npos) return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>((bits >> held) & 0xffU);
  }
  if (base64_of(bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace pinfold
