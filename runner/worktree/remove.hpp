// Taking a worktree away, in steps of which each can be the last one before a kill: the next finish
// goes on where this one stopped, and nothing that was not looked at is lost.
#pragma once

#include <time.h>

#include <expected>
#include <optional>
#include <string>

#include <pinfold/refusal.hpp>

#include "worktree/record.hpp"

namespace pinfold {

enum class own_mark : bool { absent, present };

/// Puts the runner's own `locked` into what git keeps of the worktree, or takes it out again. A
/// person's stays.
void mark_admin(const worktree_record& record, own_mark wanted);

/// Moves the working tree out of everybody's way, looks through it for what was changed since the
/// `moment` before it was inspected, and removes it. An answer is the path of such a change: the tree
/// is then back in its place. What an earlier call left in `removing` goes first. Error:
/// `input_output_error`.
[[nodiscard]] std::expected<std::optional<std::string>, refusal> remove_working_tree(
    const worktree_files& files, const worktree_record& record, timespec moment);

/// Puts a tree back that an earlier call left in `checking`. Error: `input_output_error`.
[[nodiscard]] std::expected<void, refusal> put_back(const worktree_files& files,
                                                    const worktree_record& record);

/// Whether what git keeps of the worktree is this one's, so that it may be removed: its `gitdir` leads
/// back to the tree; or, where a removal or a create was killed, it has none, and the runner's own lock
/// or nothing at all. What is not there may be.
[[nodiscard]] bool may_remove_admin(const worktree_record& record);

/// What git keeps of the worktree. Errors: `input_output_error`; `permission_denied` for what may not
/// be removed.
[[nodiscard]] std::expected<void, refusal> remove_admin(const worktree_record& record);

/// The branch, where it is at `tip` still; one that is not there is no error. `held` is the lock of the
/// worktree's folder. Error: `git_failed`.
[[nodiscard]] std::expected<void, refusal> remove_branch(const std::string& git,
                                                         const worktree_files& files,
                                                         const worktree_record& record,
                                                         const std::string& tip, int held);

/// The folder with the record, last: its name is free at once.
[[nodiscard]] std::expected<void, refusal> remove_folder(const worktree_files& files);

}  // namespace pinfold
