// A run that may commit in a linked worktree: what was known before it, and its private copies.
#pragma once

#include <optional>

#include "sandbox/git_commit/conditions.hpp"
#include "sandbox/git_commit/copies.hpp"

namespace pinfold {

struct commits {
  commit_ground ground;
  commit_copies copies;
};

}  // namespace pinfold
