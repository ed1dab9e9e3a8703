// What git on the host runs or obeys later, in this workspace: found on the disk, and made where
// git leaves it out, so that every door is a mount point before the command starts.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/refusal.hpp>
#include <pinfold/sandbox/confinement.hpp>

namespace pinfold {

/// What becomes of missing files of git's own.
enum class git_files : std::uint8_t {
  look_only,  ///< they are in the answer and stay missing
  complete,   ///< they are made
  as_found,   ///< they are left out of it
};

struct git_state {
  std::vector<carved_path> carve_outs;  ///< of kind host_run
  std::vector<std::string> pinned;      ///< .git itself, when it is a directory, and what is above
                                        ///< other carve-outs, the outer ones first
  std::string hooks_path;               ///< core.hooksPath relative to the workspace, if it is there
  std::vector<std::string> obeyed;      ///< other files of the workspace that git runs or obeys
};

/// Above so many submodules all of `.git/modules` is one carve-out: each mount costs a millisecond.
inline constexpr std::size_t most_submodules = 16;

/// Looks at `.git` below the workspace, which is held open as `directory`. A directory: `hooks`,
/// `info`, `worktrees` (made empty when absent), `config` (made empty), `commondir` (made to hold
/// ".", which is what its absence means: gitrepository-layout(5)), the `config` and `hooks` of each
/// submodule, and what the configuration names in the workspace (git_obeyed.hpp), where
/// `global_hooks_path` is the caller's own core.hooksPath. A file: the file itself. Absent: nothing.
/// With `as_found` only what is there: in a read-only workspace nothing can be added.
/// Error `carve_out_unusable` when any of them is a link or of the wrong kind, and when one that has
/// to be made cannot be.
[[nodiscard]] std::expected<git_state, refusal> look_at_git(const std::string& workspace,
                                                            int directory, git_files mode,
                                                            std::string_view global_hooks_path = {});

}  // namespace pinfold
