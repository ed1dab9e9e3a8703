// See utf8.hpp. Nothing here allocates but what it returns.
#include "json/utf8.hpp"

#include <algorithm>

namespace pinfold {

namespace {

constexpr unsigned char byte_at(std::string_view text, std::size_t i) noexcept {
  return static_cast<unsigned char>(text[i]);
}

constexpr bool is_continuation(unsigned char byte) noexcept {
  return (byte & 0xc0) == 0x80;
}

/// What a first byte asks for: how many more bytes, and the range of the second one (the table
/// "Well-Formed UTF-8 Byte Sequences" of the Unicode Standard).
struct lead {
  std::size_t more{0};
  unsigned char low{0x80};
  unsigned char high{0xbf};
  bool lawful{true};
};

constexpr lead lead_of(unsigned char byte) noexcept {
  if (byte < 0x80) return {.more = 0};
  if (byte < 0xc2) return {.lawful = false};  // a continuation, or an overlong form
  if (byte < 0xe0) return {.more = 1};
  if (byte == 0xe0) return {.more = 2, .low = 0xa0};   // below: overlong
  if (byte == 0xed) return {.more = 2, .high = 0x9f};  // above: surrogates
  if (byte < 0xf0) return {.more = 2};
  if (byte == 0xf0) return {.more = 3, .low = 0x90};   // below: overlong
  if (byte == 0xf4) return {.more = 3, .high = 0x8f};  // above: over U+10FFFF
  if (byte < 0xf4) return {.more = 3};
  return {.lawful = false};
}

constexpr char32_t first_bits(unsigned char byte, std::size_t more) noexcept {
  return more == 0 ? byte : byte & (0x3fU >> more);
}

}  // namespace

utf8_step next_utf8(std::string_view text) noexcept {
  const auto start = lead_of(byte_at(text, 0));
  if (!start.lawful) return {};
  utf8_step step{.what = utf8_step::kind::character,
                 .value = first_bits(byte_at(text, 0), start.more)};
  for (; step.length <= start.more; ++step.length) {
    if (step.length == text.size()) return {utf8_step::kind::unfinished, 0, step.length};
    const auto byte = byte_at(text, step.length);
    const bool fits =
        step.length == 1 ? byte >= start.low && byte <= start.high : is_continuation(byte);
    if (!fits) return {utf8_step::kind::broken, 0, step.length};
    step.value = (step.value << 6) | (byte & 0x3fU);
  }
  return step;
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const auto step = next_utf8(text);
    if (step.what != utf8_step::kind::character) return false;
    text.remove_prefix(step.length);
  }
  return true;
}

std::string with_replacements(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const auto step = next_utf8(text);
    valid += step.what == utf8_step::kind::character ? text.substr(0, step.length)
                                                     : replacement_character;
    text.remove_prefix(step.length);
  }
  return valid;
}

std::size_t unfinished_at_end(std::string_view text) noexcept {
  // A character has at most four bytes, so an unfinished one at most three.
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const auto end = text.substr(text.size() - back);
    if (is_continuation(byte_at(end, 0))) continue;
    const auto step = next_utf8(end);
    return step.what == utf8_step::kind::unfinished ? step.length : 0;
  }
  return 0;
}

std::size_t rest_at_start(std::string_view text) noexcept {
  std::size_t rest = 0;
  while (rest < std::min<std::size_t>(3, text.size()) && is_continuation(byte_at(text, rest))) {
    ++rest;
  }
  return rest;
}

std::string left_out_marker(std::uint64_t bytes) {
  return "\n[pinfold: " + std::to_string(bytes) + " bytes left out]\n";
}

legible_text legible(std::string_view head, std::string_view tail, std::uint64_t dropped) {
  if (dropped == 0) return {with_replacements(std::string{head}.append(tail)), 0};
  const auto before = unfinished_at_end(head);
  const auto after = rest_at_start(tail);
  head.remove_suffix(before);
  tail.remove_prefix(after);
  legible_text whole{with_replacements(head), dropped + before + after};
  whole.text += left_out_marker(whole.dropped);
  whole.text += with_replacements(tail);
  return whole;
}

}  // namespace pinfold
