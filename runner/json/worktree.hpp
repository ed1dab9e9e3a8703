// Worktrees as JSON. The names are part of the interface.
#pragma once

#include <string_view>
#include <vector>

#include <pinfold/runner/worktree.hpp>

#include "json/json.hpp"

namespace pinfold {

/// `name`, `path`, `branch`, `base`, `parent`, `parent_branch` (null where the parent was on a commit).
[[nodiscard]] json worktree_json(const worktree& one);

/// The same, then `end` ("removed" or "kept"), `branch_kept`, `commits`, `reasons`, `deletes` (null
/// where it was removed), `summary`.
[[nodiscard]] json worktree_json(const finished_worktree& finished);

/// `place`, and `worktrees`: of each the fields of a worktree, `state` and `reasons`.
[[nodiscard]] json worktrees_json(std::string_view place, const std::vector<listed_worktree>& all);

}  // namespace pinfold
