#include "worktree/record.hpp"

#include <stdlib.h>

#include <array>
#include <memory>
#include <utility>

#include <pinfold/path.hpp>

#include "git/discover.hpp"
#include "worktree/place.hpp"

namespace pinfold {
namespace {

constexpr std::string_view first_line = "pinfold-worktree 1";

struct field {
  std::string_view key;
  std::string& (*of)(worktree_record&);
};

constexpr std::array fields{
    field{"name", [](worktree_record& one) -> std::string& { return one.about.name; }},
    field{"path", [](worktree_record& one) -> std::string& { return one.about.path; }},
    field{"branch", [](worktree_record& one) -> std::string& { return one.about.branch; }},
    field{"base", [](worktree_record& one) -> std::string& { return one.about.base; }},
    field{"parent", [](worktree_record& one) -> std::string& { return one.about.parent; }},
    field{"parent-branch",
          [](worktree_record& one) -> std::string& { return one.about.parent_branch; }},
    field{"common-dir", [](worktree_record& one) -> std::string& { return one.common_dir; }},
};

bool is_object_name(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) &&
         text.find_first_not_of("0123456789abcdef") == text.npos;
}

/// As it is spelled, whatever is there: a path without a link, or one that leads nowhere.
bool is_canonical(const std::string& path) {
  if (!is_canonical_form(path)) return false;
  const std::unique_ptr<char, decltype(&::free)> found{::realpath(path.c_str(), nullptr), &::free};
  return !found || path == found.get();
}

std::string_view last_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

/// What a record says has to follow from where it lies, as `create` made it: nothing that somebody
/// wrote into one leads git, or a removal, to another place.
bool belongs_to(const worktree_files& files, const worktree_record& record) {
  const auto& about = record.about;
  const auto tree = tail_below(files.folder, about.path);
  return is_worktree_name(about.name) && about.name == last_of(files.folder) &&
         about.branch == "pinfold/" + about.name + "/work" && tree && !tree->empty() &&
         !tree->contains('/') && *tree != ".pinfold" && is_canonical(record.common_dir) &&
         repository_folder_of(record.common_dir) == last_of(parent_of(files.folder)) &&
         (about.base.empty() || is_object_name(about.base)) && is_absolute(about.parent) &&
         (about.parent_branch.empty() || about.parent_branch.starts_with("refs/"));
}

}  // namespace

std::string text_of(const worktree_record& record) {
  auto copy = record;
  std::string text{first_line};
  text += '\n';
  for (const auto& one : fields) text.append(one.key).append(" ").append(one.of(copy)).append("\n");
  return text;
}

std::optional<worktree_record> parse_worktree_record(std::string_view text) {
  const auto next = [&text] {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() == text.size() ? line.size() : line.size() + 1);
    return line;
  };
  if (next() != first_line) return std::nullopt;
  worktree_record found;
  for (const auto& one : fields) {
    auto line = next();
    if (!line.starts_with(one.key) || !line.substr(one.key.size()).starts_with(' ')) {
      return std::nullopt;
    }
    one.of(found) = line.substr(one.key.size() + 1);
  }
  return found;
}

std::optional<known_worktree> read_worktree_record(const worktree_files& files) {
  for (const bool is_complete : {true, false}) {
    auto text = line_of_file(is_complete ? files.record() : files.draft());
    if (text.empty()) continue;
    auto record = parse_worktree_record(text);
    if (!record || !belongs_to(files, *record)) return std::nullopt;
    return known_worktree{std::move(*record), is_complete};
  }
  return std::nullopt;
}

std::string quoted_for_a_shell(std::string_view word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@%";
  if (!word.empty() && word.find_first_not_of(plain) == word.npos) return std::string{word};
  std::string quoted = "'";
  for (char c : word) quoted += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return quoted + "'";
}

}  // namespace pinfold
