// The repository of a linked worktree, shown read-only; for a command that may commit, private copies
// over the parts that git writes to.
#include <algorithm>
#include <string>
#include <utility>

#include <pinfold/path.hpp>

#include "git/run_git.hpp"
#include "sandbox/linked_worktree.hpp"
#include "sandbox/places.hpp"
#include "sandbox/preparation.hpp"

namespace pinfold {
namespace {

step show_repository(preparation& now, const linked_worktree& found) {
  auto shown = read_root(found.common, now.who, now.facts.hidden);
  if (!shown) {
    auto why = refused(code::gitdir_outside, now.workspace + "/.git", shown.error().detail);
    why.boundary = shown.error().boundary;
    return std::unexpected{std::move(why)};
  }
  if (std::ranges::find(now.read_roots, found.common) == now.read_roots.end()) {
    now.read_roots.push_back(found.common);
  }
  return {};
}

/// Before anything is made for it.
step check_commits(const preparation& now, const std::string& root) {
  if (now.request.present == mode::plan) {
    return std::unexpected{refused(code::mode_forbids_writing, "--git-commit", {})};
  }
  if (root.contains('\n')) {
    return std::unexpected{refused(code::not_enforceable, root, "a newline in its path")};
  }
  if (auto git = usable_git(); !git) return std::unexpected{std::move(git.error())};
  return {};
}

step add_commits(preparation& now, const std::optional<linked_worktree>& found,
                 const std::string& root) {
  if (auto done = check_commits(now, root); !done) return done;
  if (!found) {
    return std::unexpected{refused(code::invalid_argument, now.workspace,
                                   "--git-commit is for a linked worktree (git worktree add -b "
                                   "pinfold/NAME/work), and this is none")};
  }
  auto ground = commit_ground_of(now.workspace, now.directory(), *found);
  if (!ground) return std::unexpected{std::move(ground.error())};
  const auto missing = now.missing == making::made ? missing_part::made : missing_part::left_out;
  auto copies = commit_copies::make(*ground, root, missing);
  if (!copies) return std::unexpected{std::move(copies.error())};
  now.facts.shared.push_back(
      {.source = copies->path(), .target = copies->path(), .access = root_access::read});
  now.facts.replaced = replaced_by(*copies, *ground);
  now.facts.covered = {covered_by(*copies)};
  now.committing.emplace(std::move(*ground), std::move(*copies));
  return {};
}

}  // namespace

/// What other runs keep for commits is hidden from each, whatever it may do itself.
step add_repository(preparation& now) {
  auto found = find_linked_worktree(now.workspace, now.directory());
  if (!found) return std::unexpected{std::move(found.error())};
  if (*found) {
    if (auto done = show_repository(now, **found); !done) return done;
  }
  const auto root = commits_root_of(now.who);
  if (root) {
    constexpr std::string_view why = "private copies of repositories lie there";
    if (auto done = close_own_place(now, *root, why); !done) return done;
  }
  if (!now.request.git_commit) return {};
  if (!root) return std::unexpected{root.error()};
  return add_commits(now, *found, *root);
}

}  // namespace pinfold
