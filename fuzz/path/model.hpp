// What the lexical floors should say, worked out the slow and obvious way: on lists of names, with
// the C library for addresses. Shares no code with the engine.
#pragma once

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold_fuzz::model {

using names = std::vector<std::string>;

/// The text between separators, empty pieces too.
inline names pieces(std::string_view text, char separator) {
  names found{""};
  for (char c : text) {
    if (c == separator) {
      found.emplace_back();
    } else {
      found.back() += c;
    }
  }
  return found;
}

inline names components(std::string_view path) {
  auto found = pieces(path, '/');
  std::erase(found, "");
  return found;
}

inline std::string joined(const names& list) {
  std::string text;
  for (const auto& name : list) text += "/" + name;
  return text.empty() ? "/" : text;
}

/// 'i' for an invalid path, 'l' for one too long, ' ' for a lawful one.
inline char misspelling(const std::string& path) {
  if (path.empty() || std::ranges::count(path, '\0') > 0) return 'i';
  if (path.size() > 4095) return 'l';
  for (const auto& name : components(path)) {
    if (name.size() > 255) return 'l';
  }
  return ' ';
}

/// The normal form: "." away, ".." takes the name before it away.
inline std::string normal(std::string_view path) {
  names kept;
  for (auto& name : components(path)) {
    if (name == ".") continue;
    if (name != "..") {
      kept.push_back(name);
    } else if (!kept.empty()) {
      kept.pop_back();
    }
  }
  return joined(kept);
}

inline bool is_canonical(const std::string& path) {
  return misspelling(path) == ' ' && path.front() == '/' && normal(path) == path;
}

/// Whether `path` is `root` or below it, both canonical.
inline bool holds(const std::string& root, const std::string& path) {
  const auto outer = components(root);
  const auto inner = components(path);
  return inner.size() >= outer.size() && std::equal(outer.begin(), outer.end(), inner.begin());
}

inline std::string parent(const std::string& path) {
  auto list = components(path);
  if (!list.empty()) list.pop_back();
  return joined(list);
}

inline bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// A host name by RFC 1123 whose last label is no number in any base.
inline bool is_name(const std::string& text) {
  if (text.empty() || text.size() > 253) return false;
  const auto labels = pieces(text, '.');
  for (const auto& label : labels) {
    if (label.empty() || label.size() > 63) return false;
    if (label.front() == '-' || label.back() == '-') return false;
    if (!std::ranges::all_of(label,
                             [](char c) { return is_letter(c) || is_digit(c) || c == '-'; })) {
      return false;
    }
  }
  const auto& last = labels.back();
  const bool is_decimal = std::ranges::all_of(last, is_digit);
  const bool is_hex = last.size() >= 2 && last[0] == '0' && (last[1] == 'x' || last[1] == 'X') &&
                      last.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string::npos;
  return !is_decimal && !is_hex;
}

/// The bytes of an address as inet_pton reads it; longer than the library's buffer is none.
template <std::size_t Size>
std::optional<std::array<unsigned char, Size>> address(const std::string& text) {
  std::array<unsigned char, Size> bytes{};
  if (text.contains('\0')) return std::nullopt;
  const int family = Size == 4 ? AF_INET : AF_INET6;
  if (::inet_pton(family, text.c_str(), bytes.data()) != 1) return std::nullopt;
  return bytes;
}

}  // namespace pinfold_fuzz::model
