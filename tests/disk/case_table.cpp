#include "disk/case_table.hpp"

#include <fstream>
#include <stdexcept>

namespace pinfold_test {

namespace {

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (auto at = text.find(separator); at != std::string::npos; at = text.find(separator, from)) {
    parts.push_back(text.substr(from, at - from));
    from = at + separator.size();
  }
  parts.push_back(text.substr(from));
  return parts;
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

}  // namespace

std::vector<case_row> read_cases(const std::string& file) {
  std::ifstream in{file, std::ios::binary};
  if (!in) throw std::runtime_error{"cannot read " + file};
  std::vector<case_row> rows;
  std::string line;
  std::getline(in, line);  // the header
  while (std::getline(in, line)) {
    const auto cells = split(line, "\t");
    if (cells.size() != 8) throw std::runtime_error{"not eight cells: " + line};
    rows.push_back(
        {cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6], cells[7]});
  }
  return rows;
}

std::string unescape(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      bytes += text[i];
      continue;
    }
    switch (text[++i]) {
      case 'n':
        bytes += '\n';
        break;
      case 't':
        bytes += '\t';
        break;
      case 'r':
        bytes += '\r';
        break;
      case '\\':
        bytes += '\\';
        break;
      case '0':
        bytes += '\0';
        break;
      case 'x':
        bytes += static_cast<char>(std::stoi(std::string{text.substr(i + 1, 2)}, nullptr, 16));
        i += 2;
        break;
      default:
        throw std::runtime_error{"unknown escape in " + std::string{text}};
    }
  }
  return bytes;
}

std::string expand_macros(std::string_view cell, const std::string& scratch) {
  std::string text;
  while (!cell.empty()) {
    const auto open = cell.find('{');
    const auto close = cell.find('}', open);
    const auto body = close == std::string_view::npos ? std::string_view{}
                                                      : cell.substr(open + 1, close - open - 1);
    const auto star = body.find('*');
    if (open == std::string_view::npos || star == std::string_view::npos) {
      text += cell;
      break;
    }
    text += cell.substr(0, open);
    const auto times = std::stoi(std::string{body.substr(0, star)});
    for (int i = 0; i < times; ++i) text += body.substr(star + 1);
    cell.remove_prefix(close + 1);
  }
  replace_all(text, "SCRATCH", scratch);
  return text;
}

std::string bytes_of(std::string_view cell, const std::string& scratch) {
  return unescape(expand_macros(cell, scratch));
}

std::string input_bytes(std::string_view cell, const std::string& scratch) {
  const auto fill = cell.find("{fill=");
  if (fill == std::string_view::npos) return bytes_of(cell, scratch);
  const auto close = cell.find('}', fill);
  const auto size = std::stoul(std::string{cell.substr(fill + 6, close - fill - 6)});
  const auto before = bytes_of(cell.substr(0, fill), scratch);
  const auto after = bytes_of(cell.substr(close + 1), scratch);
  return before + std::string(size - before.size() - after.size(), '/') + after;
}

std::vector<std::string> tree_items(std::string_view cell, const std::string& scratch) {
  std::vector<std::string> items;
  for (const auto& item : split(std::string{cell}, "; ")) {
    if (!item.empty()) items.push_back(expand_macros(item, scratch));
  }
  return items;
}

std::string verdict_of(pinfold::code value) {
  using pinfold::code;
  if (value == code::outside_workspace) return "outside";
  if (value == code::harness_state) return "harness";
  if (value == code::host_run_file) return "host-run";
  if (value == code::read_only_root) return "read-only";
  if (value == code::not_found) return "not-found";
  if (value == code::symlink_loop) return "loop";
  if (value == code::not_a_directory) return "not-a-dir";
  if (value == code::invalid_path) return "invalid";
  if (value == code::magic_link) return "magic-link";
  if (value == code::name_too_long) return "name-too-long";
  if (value == code::permission_denied) return "denied";
  return std::string{name_of(value)};
}

}  // namespace pinfold_test
