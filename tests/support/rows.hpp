// Reads the tables of checked cases: tab-separated, one header line, with backslash escapes for NUL,
// line breaks, tabs and the backslash itself, and {N*s} for N times s.
#pragma once

#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold::rows {

inline std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    switch (text.at(++i)) {
      case '0':
        out += '\0';
        break;
      case 'r':
        out += '\r';
        break;
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case '\\':
        out += '\\';
        break;
      default:
        throw std::runtime_error{"unknown escape in " + std::string{text}};
    }
  }
  return out;
}

/// {3*ab} becomes ababab; what is in the braces may hold escapes.
inline std::string expanded(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto open = text.find('{');
    out += unescaped(text.substr(0, open));
    if (open == std::string_view::npos) break;
    const auto star = text.find('*', open);
    const auto close = text.find('}', star);
    if (close == std::string_view::npos) throw std::runtime_error{"no } in " + std::string{text}};
    const auto times = std::stoul(std::string{text.substr(open + 1, star - open - 1)});
    const auto part = unescaped(text.substr(star + 1, close - star - 1));
    for (std::size_t i = 0; i < times; ++i) out += part;
    text.remove_prefix(close + 1);
  }
  return out;
}

inline std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> parts{""};
  for (char c : line) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// The rows below the header line, each with `columns` fields as they stand in the file.
inline std::vector<std::vector<std::string>> read(const std::string& path, std::size_t columns) {
  std::ifstream file{path};
  if (!file) throw std::runtime_error{"cannot read " + path};
  std::vector<std::vector<std::string>> all;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    all.push_back(split(line, '\t'));
    if (all.back().size() != columns) throw std::runtime_error{path + ": odd row: " + line};
  }
  return all;
}

}  // namespace pinfold::rows
