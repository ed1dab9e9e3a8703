#include "mcp/tools/text.hpp"

#include <cstring>

#include <nlohmann/json.hpp>

#include "json/showable.hpp"
#include "json/utf8.hpp"

namespace pinfold::mcp {

namespace {

/// True for eight bytes of ASCII, none of them NUL.
bool are_plain(std::uint64_t word) noexcept {
  constexpr std::uint64_t tops = 0x8080'8080'8080'8080;
  return (word & tops) == 0 && pinfold::detail::zero_bytes(word) == 0;
}

}  // namespace

bool is_text(std::string_view bytes) noexcept {
  std::size_t at = 0;
  for (std::uint64_t word = 0; at + sizeof word <= bytes.size(); at += sizeof word) {
    std::memcpy(&word, bytes.data() + at, sizeof word);
    if (!are_plain(word)) break;
  }
  bytes.remove_prefix(at);
  return bytes.empty() || (!bytes.contains('\0') && is_utf8(bytes));
}

std::string_view as_given(const workspace& ws, std::string_view canonical) noexcept {
  const auto tail = tail_below(ws.path(), canonical);
  if (!tail) return canonical;
  return tail->empty() ? std::string_view{"."} : *tail;
}

void put_name(json& object, std::string_view name, std::string_view bytes) {
  put_bytes(object, name, bytes);
  if (!is_utf8(bytes)) object["addressable"] = false;
}

std::string shown(std::string_view name) {
  constexpr std::string_view hex = "0123456789abcdef";
  std::string text;
  bool is_bare = true;
  for (auto rest = name; !rest.empty();) {
    const auto step = next_utf8(rest);
    const auto bytes = rest.substr(0, step.length);
    rest.remove_prefix(step.length);
    if (is_showable(step) && step.value != '"' && step.value != '\\') {
      text += bytes;
      continue;
    }
    is_bare = false;
    for (const char c : bytes) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        text += {'\\', c};
      } else {
        text += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
      }
    }
  }
  return is_bare ? text : '"' + text + '"';
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + ' ' + std::string{count == 1 ? one : many};
}

refusal wrong_argument(operation op, std::string_view argument, std::string why) {
  return {.error = code::invalid_argument,
          .op = op,
          .path = std::string{argument},
          .resolved = {},
          .boundary = {},
          .detail = std::move(why)};
}

}  // namespace pinfold::mcp
