// Where worktrees lie, what they may be called, and how their folders are locked.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/refusal.hpp>

namespace pinfold {

/// $XDG_STATE_HOME/pinfold/worktrees, or the same below ~/.local/state; canonical, there or not.
/// Errors: `invalid_argument` without a home; those of the resolver.
[[nodiscard]] std::expected<std::string, refusal> worktree_place_of(
    const std::vector<std::string>& environment);

/// Whether it can be a worktree's: see `worktree_request`.
[[nodiscard]] bool is_worktree_name(std::string_view name) noexcept;

/// The directory in the place that holds all worktrees of one repository: readable for a person, and
/// another one for each `common_dir`.
[[nodiscard]] std::string repository_folder_of(std::string_view common_dir);

/// The last component; a repository at "/" has none, and is called "tree", as is one that is called
/// like what lies beside it.
[[nodiscard]] std::string tree_name_of(std::string_view top);

/// Makes what is missing, mode 0700. Errors (`permission_denied`): a directory on the way that is not
/// the caller's alone.
[[nodiscard]] std::expected<void, refusal> make_worktree_place(const std::string& place,
                                                               const std::string& folder);

/// The directory, open, with the exclusive lock on it: runs hold a shared one on the working tree, a
/// create or a finish an exclusive one on the folder. Waits for a tenth of a second. Error: an errno,
/// EWOULDBLOCK where somebody else holds one.
[[nodiscard]] std::expected<descriptor, int> lock_directory(const std::string& path);

/// Removes what killed calls left in the folder of a repository and nobody holds: names that were never
/// in use, or are no more.
void sweep_repository_folder(const std::string& folder);

inline constexpr std::string_view new_prefix = ".new-";
inline constexpr std::string_view gone_prefix = ".gone-";

/// A refusal about a worktree; `op` is `make_directory` or `remove`.
[[nodiscard]] refusal worktree_refusal(code error, operation op, std::string path, std::string why);

}  // namespace pinfold
