// A workspace whose file `.git` leads to a repository outside of it. A command may have written that
// file, so the repository has to say itself that this folder is one of its trees.
#pragma once

#include <expected>
#include <optional>
#include <string>

#include <pinfold/refusal.hpp>

namespace pinfold {

/// Canonical, all of it.
struct linked_worktree {
  std::string gitdir;      ///< worktrees/NAME of the repository, or a submodule's repository
  std::string common;      ///< the repository; the same as `gitdir` for a submodule
  bool is_worktree{true};  ///< false: a submodule's checkout
};

/// What `.git` of the canonical workspace, held open as `directory`, leads to. Nothing where it is no
/// file, names nothing, or leads to a repository in the workspace. Accepted are, in this order:
///  1. C/worktrees/NAME whose `commondir` leads to C and whose `gitdir` names this `.git`
///     (gitrepository-layout(5))
///  2. a repository without `commondir` whose `core.worktree` names this folder (a submodule's)
/// Error: `gitdir_outside` for everything else, there or not; those of the reading's budget.
[[nodiscard]] std::expected<std::optional<linked_worktree>, refusal> find_linked_worktree(
    const std::string& workspace, int directory);

}  // namespace pinfold
