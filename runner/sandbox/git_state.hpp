// What git on the host runs or obeys later, in this workspace: found on the disk, and made where
// git leaves it out, so that every door is a mount point before the command starts.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/refusal.hpp>
#include <pinfold/sandbox/confinement.hpp>

namespace pinfold {

/// Whether missing files of git's own may be made on the way.
enum class git_files : bool { look_only, complete };

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
/// Error `carve_out_unusable` when any of them is a link or of the wrong kind, and when one that has
/// to be made cannot be.
[[nodiscard]] std::expected<git_state, refusal> look_at_git(const std::string& workspace,
                                                            int directory, git_files mode,
                                                            std::string_view global_hooks_path = {});

}  // namespace pinfold
