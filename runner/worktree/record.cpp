#include "worktree/record.hpp"

#include <array>
#include <utility>

#include "git/discover.hpp"

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
    if (!record) return std::nullopt;
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
