// As much of git's configuration syntax as two values need, read and written.
#include <cctype>
#include <string>
#include <string_view>

#include "sandbox/caller.hpp"

namespace pinfold {
namespace {

std::string lower(std::string_view text) {
  std::string folded{text};
  for (char& c : folded) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return folded;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// The value after '=': quotes taken away, the escapes that git knows undone, a comment cut off.
std::string value_of(std::string_view raw) {
  std::string value;
  std::size_t solid = 0;  // length without trailing blanks that were not quoted
  bool is_quoted = false;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    char c = raw[i];
    if (c == '"') {
      is_quoted = !is_quoted;
      solid = value.size();
      continue;
    }
    if (!is_quoted && (c == '#' || c == ';')) break;
    if (c == '\\' && i + 1 < raw.size()) {
      c = raw[++i];
      if (c == 'n') c = '\n';
      if (c == 't') c = '\t';
      if (c == 'b') c = '\b';
      value.push_back(c);
      solid = value.size();
      continue;
    }
    value.push_back(c);
    if (is_quoted || (c != ' ' && c != '\t')) solid = value.size();
  }
  value.resize(solid);
  return value;
}

std::string quoted(std::string_view value) {
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

}  // namespace

git_identity parse_git_identity(std::string_view text) {
  git_identity who;
  bool in_user = false;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with('[')) {
      const auto close = line.find(']');
      in_user =
          close != std::string_view::npos && lower(trimmed(line.substr(1, close - 1))) == "user";
      line = close == std::string_view::npos ? std::string_view{} : trimmed(line.substr(close + 1));
    }
    const auto equals = line.find('=');
    if (!in_user || equals == std::string_view::npos || line.front() == '#' ||
        line.front() == ';') {
      continue;
    }
    const auto key = lower(trimmed(line.substr(0, equals)));
    if (key == "name") who.name = value_of(trimmed(line.substr(equals + 1)));
    if (key == "email") who.email = value_of(trimmed(line.substr(equals + 1)));
  }
  return who;
}

std::string git_configuration_for(const git_identity& who, std::string_view workspace) {
  std::string text;
  if (!who.name.empty() || !who.email.empty()) text += "[user]\n";
  if (!who.name.empty()) text += "\tname = " + quoted(who.name) + "\n";
  if (!who.email.empty()) text += "\temail = " + quoted(who.email) + "\n";
  return text + "[safe]\n\tdirectory = " + quoted(workspace) + "\n";
}

}  // namespace pinfold
