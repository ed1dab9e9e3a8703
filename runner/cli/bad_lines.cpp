#include "cli/bad_lines.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "cli/text.hpp"

namespace pinfold {

std::string place_text(std::string_view file, std::uint64_t line) {
  return terminal_safe(file) + ":" + std::to_string(line);
}

std::string summary_row(std::string_view title, std::string_view value) {
  constexpr std::size_t width = 24;
  return std::string{title} +
         std::string(title.size() < width ? width - title.size() : 1, ' ') + std::string{value} + "\n";
}

void bad_lines::add(record_place where, std::string why) {
  ++count_;
  if (named_.size() == most_named) return;
  named_.push_back({std::string{where.file}, where.line, std::move(why)});
}

std::string bad_lines::table(std::string_view title) const {
  if (count_ == 0) return {};
  auto text = summary_row(title, std::to_string(count_));
  for (const auto& one : named_) {
    text += "  " + place_text(one.file, one.line) + ": " + terminal_safe(one.why) + "\n";
  }
  if (count_ > named_.size()) {
    text += "  and " + std::to_string(count_ - named_.size()) + " more\n";
  }
  return text;
}

json bad_lines::object() const {
  json bad{{"count", count_}, {"lines", json::array()}};
  for (const auto& one : named_) {
    json entry;
    put_bytes(entry, "file", one.file);
    entry["line"] = one.line;
    entry["why"] = one.why;
    bad["lines"].push_back(std::move(entry));
  }
  return bad;
}

}  // namespace pinfold
