// The head of a request, taken apart the slow and obvious way. Shares no code with the proxy.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinfold_fuzz::model {

using field_list = std::vector<std::pair<std::string, std::string>>;

inline std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return text;
}

inline std::string trimmed(std::string text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.erase(0, 1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.pop_back();
  return text;
}

/// The pieces between separators, the last one too.
inline std::vector<std::string> split(std::string_view text, std::string_view at) {
  std::vector<std::string> parts;
  for (auto next = text.find(at); next != std::string_view::npos; next = text.find(at)) {
    parts.emplace_back(text.substr(0, next));
    text.remove_prefix(next + at.size());
  }
  parts.emplace_back(text);
  return parts;
}

/// Whether a reader that takes a lone CR or LF, or a NUL, for the end of a line sees other lines.
inline bool has_odd_ends(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\0') return true;
    if (text[i] == '\n' && (i == 0 || text[i - 1] != '\r')) return true;
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] != '\n') return true;
  }
  return false;
}

struct head {
  std::vector<std::string> line;  ///< method, target, version
  field_list fields;              ///< names in lower case, values trimmed

  [[nodiscard]] std::vector<std::string> all(std::string_view name) const {
    std::vector<std::string> values;
    for (const auto& [key, value] : fields) {
      if (key == name) values.push_back(value);
    }
    return values;
  }
};

/// The head of these bytes, which end with it; nothing when a line is no field.
inline std::optional<head> read_head(std::string_view text) {
  if (!text.ends_with("\r\n\r\n")) return std::nullopt;
  text.remove_suffix(4);
  const auto lines = split(text, "\r\n");
  head found{.line = split(lines.front(), " "), .fields = {}};
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto colon = lines[i].find(':');
    if (colon == std::string::npos || colon == 0) return std::nullopt;
    const auto name = lower(lines[i].substr(0, colon));
    if (name.find_first_of(" \t") != std::string::npos) return std::nullopt;
    found.fields.emplace_back(name, trimmed(lines[i].substr(colon + 1)));
  }
  return found;
}

/// The fields less those with one of these names.
inline field_list without(field_list fields, const std::vector<std::string>& names) {
  std::erase_if(
      fields, [&](const auto& one) { return std::ranges::find(names, one.first) != names.end(); });
  return fields;
}

/// The fields of a head that are neither of the hop nor about whose request it is or where it ends.
inline field_list without_hop(const head& from) {
  return without(from.fields, {"connection", "keep-alive", "proxy-connection", "proxy-authenticate",
                               "proxy-authorization", "te", "trailer", "upgrade",
                               "transfer-encoding", "content-length", "host"});
}

/// The names in Connection: those fields are of the hop too.
inline std::vector<std::string> named_in_connection(const head& from) {
  std::vector<std::string> names;
  for (const auto& value : from.all("connection")) {
    for (const auto& name : split(value, ",")) names.push_back(lower(trimmed(name)));
  }
  return names;
}

/// Where a body in chunks ends; nothing when it does not end here, or is none.
inline std::optional<std::size_t> end_of_chunks(std::string_view text) {
  std::size_t at = 0;
  for (;;) {
    const auto end = text.find("\r\n", at);
    if (end == std::string_view::npos || end == at || end - at > 8) return std::nullopt;
    const std::string digits{text.substr(at, end - at)};
    if (digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
      return std::nullopt;
    const auto size = std::stoul(digits, nullptr, 16);
    at = end + 2;
    if (text.size() - at < size + 2) return std::nullopt;
    if (text.substr(at + size, 2) != "\r\n") return std::nullopt;
    at += size + 2;
    if (size == 0) return at;
  }
}

}  // namespace pinfold_fuzz::model
