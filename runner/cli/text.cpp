// Words for a shell: see text.hpp. What is unsafe to show is decided in one place, `is_showable`.
#include "cli/text.hpp"

#include <algorithm>
#include <array>

#include "json/utf8.hpp"

namespace pinfold {

namespace {

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

}  // namespace pinfold
