// One pass over the text: a section, or a key with its value, which a backslash at the end of a line
// carries on.
#include "sandbox/git_config.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace pinfold {
namespace {

std::string lower(std::string_view text) {
  std::string folded{text};
  for (char& c : folded) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return folded;
}

constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

class reader {
 public:
  explicit reader(std::string_view text) : text_{text} {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
  }

  std::vector<git_setting> read() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (is_blank(c) || c == '\n') {
        ++at_;
      } else if (c == '#' || c == ';') {
        skip_line();
      } else if (c == '[') {
        read_section();
      } else {
        read_setting();
      }
    }
    return std::move(found_);
  }

 private:
  void skip_line() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  /// [name], [name "sub section"] or the old [name.subsection].
  void read_section() {
    ++at_;
    section_.clear();
    subsection_.clear();
    bool is_quoted = false;
    for (; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      char c = text_[at_];
      if (c == '"') {
        is_quoted = !is_quoted;
      } else if (is_quoted) {
        if (c == '\\' && at_ + 1 < text_.size()) c = text_[++at_];
        subsection_.push_back(c);
      } else if (c == ']') {
        ++at_;
        break;
      } else if (!is_blank(c)) {
        section_.push_back(c);
      }
    }
    section_ = lower(section_);
    if (const auto dot = section_.find('.'); dot != std::string::npos && subsection_.empty()) {
      subsection_ = section_.substr(dot + 1);
      section_.resize(dot);
    }
  }

  void read_setting() {
    const auto end = std::min(text_.find_first_of("=\n#;", at_), text_.size());
    auto key = text_.substr(at_, end - at_);
    while (!key.empty() && is_blank(key.back())) key.remove_suffix(1);
    at_ = end;
    std::string value;
    if (at_ < text_.size() && text_[at_] == '=') {
      ++at_;
      value = read_value();
    } else {
      skip_line();
    }
    found_.push_back({section_, subsection_, lower(key), std::move(value)});
  }

  /// Quotes taken away, the escapes that git knows undone, a comment cut off.
  std::string read_value() {
    std::string value;
    std::size_t solid = 0;  // length without trailing blanks that were not quoted
    bool is_quoted = false;
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    for (; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      char c = text_[at_];
      if (c == '"') {
        is_quoted = !is_quoted;
        solid = value.size();
        continue;
      }
      if (!is_quoted && (c == '#' || c == ';')) {
        skip_line();
        break;
      }
      if (c == '\\' && at_ + 1 < text_.size()) {
        c = text_[++at_];
        if (c == '\n') continue;  // carried on
        if (c == 'n') c = '\n';
        if (c == 't') c = '\t';
        if (c == 'b') c = '\b';
        value.push_back(c);
        solid = value.size();
        continue;
      }
      value.push_back(c);
      if (is_quoted || !is_blank(c)) solid = value.size();
    }
    value.resize(solid);
    return value;
  }

  std::string_view text_;
  std::size_t at_{0};
  std::string section_;
  std::string subsection_;
  std::vector<git_setting> found_;
};

constexpr std::array<std::string_view, 14> obeyed_sections{
    "alias",  "credential", "diff",  "difftool", "filter",    "gpg",   "guitool",
    "include", "includeif", "interactive", "merge", "mergetool", "pager", "sequence"};

constexpr std::array<std::string_view, 9> obeyed_core_keys{
    "alternaterefscommand", "askpass", "attributesfile", "editor",   "fsmonitor",
    "gitproxy",             "hookspath", "pager",        "sshcommand"};

constexpr std::array<std::string_view, 12> obeyed_keys{
    "browser",   "cmd",        "command", "external",    "helper",      "proxycommand",
    "receivepack", "recursesubmodules", "update", "uploadpack", "uploadpackfilter", "vcs"};

bool is_one_of(std::string_view word, auto& words) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

std::vector<git_setting> parse_git_config(std::string_view text) {
  return reader{text}.read();
}

bool is_obeyed_by_git(const git_setting& setting) {
  if (setting.section == "core") {
    return is_one_of(setting.key, obeyed_core_keys) || setting.key == "worktree";
  }
  return is_one_of(setting.section, obeyed_sections) || is_one_of(setting.key, obeyed_keys);
}

std::string quoted_for_git(std::string_view value) {
  std::string text = "\"";
  for (char c : value) {
    if (c == '"' || c == '\\') text.push_back('\\');
    if (c == '\n') {
      text += "\\n";
    } else {
      text.push_back(c);
    }
  }
  return text + "\"";
}

}  // namespace pinfold
