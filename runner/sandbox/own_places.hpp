// The runner's own places of this caller: caches of workspaces, worktrees with their records, private
// copies of repositories. What lies there decides what the runner does later, so no workspace may hold
// one or lie in one, whoever works in it: a command, or a tool that writes files.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include <pinfold/refusal.hpp>

#include "sandbox/caller.hpp"

namespace pinfold {

/// $XDG_STATE_HOME/pinfold, by default ~/.local/state/pinfold, and what lies below it: `tail` is empty
/// or begins with '/'. Canonical, there or not. Nothing for a caller without a home. Errors: those of
/// the resolver.
[[nodiscard]] std::expected<std::optional<std::string>, refusal> state_place_of(
    const caller& who, std::string_view tail);

/// Refuses (`workspace_too_broad`) a canonical workspace. In order; the last line permits:
///  1. it holds the caches of workspaces, or lies in them                     -> refuse
///  2. it holds the place of the runner's state, of its worktrees or of its
///     private copies                                                          -> refuse
///  3. it is a tree of a worktree, PLACE/REPOSITORY/NAME/TREE, or lies in one  -> permit: nothing of
///     the runner's is there
///  4. it lies in one of the places of 2                                       -> refuse
///  5. anything else                                                           -> permit
/// A place that cannot be told (the resolver's errors) refuses nothing: then nothing is kept there.
[[nodiscard]] std::expected<void, refusal> check_own_places(const std::string& workspace,
                                                            const caller& who);

}  // namespace pinfold
