// Whether a command can be let commit in a linked worktree, and what has to be known for it. Reads
// alone: nothing is made here, and git is not started.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include <pinfold/refusal.hpp>

#include "sandbox/linked_worktree.hpp"

namespace pinfold {

/// A worktree in which commits are to be made, as it was before the run.
struct commit_ground {
  linked_worktree worktree;
  std::string branch;  ///< refs/heads/pinfold/NAME/work
  std::string tip;     ///< the commit that it named
  std::string base;    ///< the commit that every new tip has to contain
  std::string format;  ///< "sha1" or "sha256"

  /// refs/heads/pinfold/NAME: the directory of refs that are the command's own.
  [[nodiscard]] std::string refs() const { return branch.substr(0, branch.rfind('/')); }
};

/// The name of an object, in full.
[[nodiscard]] bool is_object_name(std::string_view text, std::string_view format);

/// In order; the last line permits:
///  1. no linked worktree (a submodule's checkout, a repository of the workspace) -> refuse
///  2. a part of the repository that is a link or another user's   -> refuse
///  3. an extension other than the object format and configurations of worktrees (reftable, partial
///     clones), a sparse checkout, alternates, submodules that are checked out, objects of LFS -> refuse
///  4. HEAD on no branch pinfold/NAME/work                         -> refuse
///  5. a merge, a rebase, a bisection under way                    -> refuse
///  6. anything else                                               -> commits may be made
/// The base is the commit at which the branch was made, by the first line of its log; without one,
/// its tip. Errors: `invalid_argument` (1, 4), `permission_denied` (2), `not_enforceable` (3, 5).
[[nodiscard]] std::expected<commit_ground, refusal> commit_ground_of(
    const std::string& workspace, int directory, const linked_worktree& worktree);

}  // namespace pinfold
