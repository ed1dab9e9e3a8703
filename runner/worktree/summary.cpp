#include "worktree/summary.hpp"

#include <cstdint>
#include <string_view>

namespace pinfold {
namespace {

std::string parent_of_branch(const worktree& about) {
  constexpr std::string_view prefix = "refs/heads/";
  if (about.parent_branch.starts_with(prefix)) return about.parent_branch.substr(prefix.size());
  return about.base;
}

std::string commits_that(const finished_worktree& finished) {
  const auto one = finished.commits == 1;
  return std::to_string(finished.commits) + (one ? " commit" : " commits") + " that " +
         parent_of_branch(finished.about) + " does not";
}

}  // namespace

std::string deleting_line(const worktree_files& files, const worktree_record& record) {
  return "rm -rf " + quoted_for_a_shell(files.folder) + " " + quoted_for_a_shell(record.admin_dir()) +
         "; git -C " + quoted_for_a_shell(record.about.parent) + " branch -D " +
         quoted_for_a_shell(record.about.branch);
}

std::string summary_of(const finished_worktree& finished, std::size_t more) {
  const auto& about = finished.about;
  std::string text = "worktree " + about.name;
  if (finished.end == worktree_end::removed) {
    text += ": removed, since nothing in it would be lost.";
    if (finished.branch == branch_end::kept) {
      text += " Its branch " + about.branch + " is kept: it holds " + commits_that(finished) + ".";
    } else {
      text += " Its branch " + about.branch + " held no commit of its own and is removed.";
    }
    return text + "\n";
  }
  text += ": kept at " + about.path + ", on branch " + about.branch;
  if (finished.commits > 0) text += ", which holds " + commits_that(finished);
  text += ". What would be lost:\n";
  for (const auto& reason : finished.reasons) text += "  " + reason + "\n";
  if (more > 0) text += "  and " + std::to_string(more) + " more\n";
  return text + "To delete all of it: " + finished.deletes + "\n";
}

}  // namespace pinfold
