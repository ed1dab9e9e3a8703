#include "json/showable.hpp"

#include <algorithm>
#include <array>

namespace pinfold {
namespace {

struct code_range {
  char32_t first;
  char32_t last;
  std::string_view why;
};

/// Characters that are whole and yet not shown as they are. Zero-width joiner and non-joiner
/// (U+200C, U+200D) are left alone: scripts and emoji need them.
constexpr std::array<code_range, 13> unshowable{{
    {0x00, 0x1f, "control characters"},
    {0x7f, 0x9f, "delete and the C1 controls, which some terminals obey"},
    {0xad, 0xad, "soft hyphen"},
    {0x061c, 0x061c, "Arabic letter mark"},
    {0x180e, 0x180e, "Mongolian vowel separator"},
    {0x200b, 0x200b, "zero-width space"},
    {0x200e, 0x200f, "left-to-right and right-to-left mark"},
    {0x2028, 0x202e, "line and paragraph separator, embeddings and overrides"},
    {0x2060, 0x206f, "word joiner, isolates, deprecated formatting"},
    {0xfeff, 0xfeff, "byte order mark"},
    {0xfff9, 0xfffb, "interlinear annotation"},
    {0xe0000, 0xe007f, "tags"},
    {0xf0000, 0x10ffff, "private use planes"},
}};

std::string escaped(const utf8_step& step, std::string_view bytes) {
  if (step.what == utf8_step::kind::character && step.length > 1) {
    return "\\u{" + digits_of(step.value, 16, 4) + "}";
  }
  std::string text;
  for (char byte : bytes) text += "\\x" + digits_of(static_cast<unsigned char>(byte), 16, 2);
  return text;
}

}  // namespace

bool is_showable(const utf8_step& step) noexcept {
  if (step.what != utf8_step::kind::character) return false;
  return std::ranges::none_of(unshowable, [&](const code_range& range) {
    return step.value >= range.first && step.value <= range.last;
  });
}

std::string digits_of(std::uint32_t value, unsigned base, std::size_t least) {
  std::string digits;
  for (; value > 0 || digits.size() < least; value /= base) {
    digits.insert(digits.begin(), "0123456789abcdef"[value % base]);
  }
  return digits;
}

std::string terminal_safe(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    const auto step = next_utf8(text);
    const auto bytes = text.substr(0, step.length);
    if (is_showable(step)) {
      safe += bytes;
    } else {
      safe += escaped(step, bytes);
    }
    text.remove_prefix(step.length);
  }
  return safe;
}

}  // namespace pinfold
