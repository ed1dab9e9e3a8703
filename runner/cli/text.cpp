// Words for a shell and bytes for a terminal: see text.hpp. What is unsafe to show is decided in
// one place, `is_showable`, for both.
#include "cli/text.hpp"

#include <algorithm>
#include <array>

#include "json/utf8.hpp"

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

std::string escaped(const utf8_step& step, std::string_view bytes) {
  if (step.what == utf8_step::kind::character && step.length > 1) {
    return "\\u{" + digits_of(step.value, 16, 4) + "}";
  }
  std::string text;
  for (char byte : bytes) text += "\\x" + digits_of(static_cast<unsigned char>(byte), 16, 2);
  return text;
}

constexpr bool is_bare(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view{"_@%+:,./-"}.contains(c);
}

/// Words that a shell reads as grammar where a command may stand (POSIX 2.4, and bash's own).
constexpr std::array<std::string_view, 18> shell_words{
    "if",    "then",  "else", "elif", "fi",       "do",     "done",   "case", "esac",
    "while", "until", "for",  "in",   "function", "select", "coproc", "time", "namespace"};

/// True when a shell takes the word as it stands. '=' is safe after a leading '-' only: elsewhere
/// it could make the word an assignment.
bool is_safe_bare(std::string_view word) noexcept {
  if (word.empty() || std::ranges::find(shell_words, word) != shell_words.end()) return false;
  const bool option = word.starts_with('-');
  return std::ranges::all_of(word, [=](char c) { return is_bare(c) || (c == '=' && option); });
}

/// The parts of a quoted word: text in single quotes, and bytes that printf makes.
class quoted_word {
 public:
  void plain(std::string_view text) {
    if (part_ != part::plain) open(part::plain, "'");
    text_ += text;
  }
  void apostrophe() { open(part::none, "\\'"); }
  void bytes(std::string_view raw) {
    if (part_ != part::bytes) open(part::bytes, "\"$(printf '");
    for (char byte : raw) text_ += "\\" + digits_of(static_cast<unsigned char>(byte), 8, 3);
  }
  std::string finish() {
    open(part::none, "");
    return std::move(text_);
  }

 private:
  enum class part : unsigned char { none, plain, bytes };

  void open(part next, std::string_view opening) {
    if (part_ == part::plain) text_ += "'";
    if (part_ == part::bytes) text_ += "')\"";
    text_ += opening;
    part_ = next;
  }

  std::string text_;
  part part_{part::none};
};

}  // namespace

std::string shell_quote(std::string_view word) {
  if (is_safe_bare(word)) return std::string{word};
  if (word.empty()) return "''";
  quoted_word quoted;
  while (!word.empty()) {
    const auto step = next_utf8(word);
    const auto bytes = word.substr(0, step.length);
    if (bytes == "'") {
      quoted.apostrophe();
    } else if (bytes == "\n" || is_showable(step)) {
      quoted.plain(bytes);
    } else {
      quoted.bytes(bytes);
    }
    word.remove_prefix(step.length);
  }
  return quoted.finish();
}

std::string shell_join(std::span<const std::string> words) {
  std::string line;
  for (const auto& word : words) {
    if (!line.empty()) line += ' ';
    line += shell_quote(word);
  }
  return line;
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
