#include "sandbox/host_run/content.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "sandbox/git_config.hpp"

namespace pinfold {

file_text text_of_file(int file) {
  struct stat about{};
  if (::fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) return {};
  const auto size = static_cast<std::size_t>(about.st_size);
  file_text found{std::string(std::min(size, most_of_a_text), '\0'), size <= most_of_a_text};
  std::size_t have = 0;
  while (have < found.text.size()) {
    const auto got = ::read(file, found.text.data() + have, found.text.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  found.text.resize(have);
  return found;
}

std::string obeyed_settings(std::string_view configuration) {
  std::string names;
  for (const auto& setting : parse_git_config(configuration)) {
    if (!is_obeyed_by_git(setting)) continue;
    if (!names.empty()) names += ", ";
    names += setting.section + "." + (setting.subsection.empty() ? "" : setting.subsection + ".") +
             setting.key;
  }
  return names;
}

bool names_a_driver(std::string_view attributes) {
  constexpr std::array<std::string_view, 3> drivers{"filter=", "diff=", "merge="};
  return std::ranges::any_of(drivers,
                             [attributes](auto word) { return attributes.contains(word); });
}

bool starts_a_program(std::string_view todo) {
  while (!todo.empty()) {
    const auto end = std::min(todo.find('\n'), todo.size());
    auto line = todo.substr(0, end);
    todo.remove_prefix(std::min(end + 1, todo.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const auto word = line.substr(0, line.find_first_of(" \t"));
    if (word == "exec" || word == "x") return true;
  }
  return false;
}

}  // namespace pinfold
