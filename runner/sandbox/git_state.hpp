// What git on the host runs or obeys later, in this workspace: found on the disk, and made where
// git leaves it out, so that every door is a mount point before the command starts.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include <pinfold/refusal.hpp>
#include <pinfold/sandbox/confinement.hpp>

namespace pinfold {

/// Whether missing files of git's own may be made on the way.
enum class git_files : bool { look_only, complete };

struct git_state {
  std::vector<carved_path> carve_outs;  ///< of kind host_run
  std::vector<std::string> pinned;      ///< .git itself, when it is a directory
};

/// Looks at `.git` below the workspace, which is held open as `directory`. A directory: `hooks`,
/// `info`, `worktrees` (made empty when absent), `config` (made empty) and `commondir` (made to
/// hold
/// ".", which is what its absence means: gitrepository-layout(5)). A file: the file itself. Absent:
/// nothing. Error `carve_out_unusable` when any of them is a link or of the wrong kind, and when
/// one that has to be made cannot be.
[[nodiscard]] std::expected<git_state, refusal> look_at_git(const std::string& workspace,
                                                            int directory, git_files mode);

}  // namespace pinfold
