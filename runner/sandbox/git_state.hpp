// What git on the host runs or obeys later, in this workspace: found on the disk, and made where
// git leaves it out, so that every door is a mount point before the command starts. Tools get the
// same list as mounts.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/refusal.hpp>
#include <pinfold/sandbox/confinement.hpp>

#include "sandbox/git_sources.hpp"
#include "sandbox/git_state/ground.hpp"

namespace pinfold {

/// What becomes of missing files of git's own.
enum class git_files : std::uint8_t {
  look_only,  ///< they are in the answer and stay missing
  complete,   ///< they are made
  as_found,   ///< they are left out of it
};

/// Where a repository's index lies, and the work tree that the paths in it begin in ("" is the
/// workspace).
struct git_index_place {
  std::string index;
  std::string tree;
};

struct git_state {
  std::vector<carved_path> carve_outs;   ///< of kind host_run
  std::vector<std::string> pinned;       ///< directories of a repository and what is above other
                                         ///< carve-outs, the outer ones first
  // The rest is for the report after the run, relative to the workspace.
  std::vector<std::string> hooks_paths;  ///< directories that git takes hooks from, there or not
  std::vector<std::string> obeyed;       ///< files that git runs or obeys and that are not held
  std::vector<git_index_place> indexes;
  /// Doors that are not there and not held, since nothing obeys them now: for tools, which can be
  /// kept from making them at no cost.
  std::vector<std::string> unmade;
};

/// Above so many submodules all of `modules` is one carve-out: each mount costs a millisecond. The
/// same goes for worktrees.
inline constexpr std::size_t most_submodules = 16;

/// Looks at the workspace, which is held open as `directory`, for repositories:
///  - `.git`, a directory;
///  - what `.git`, a file, leads to, and the file itself;
///  - the workspace, where it has HEAD, objects and refs: a bare one;
///  - what `commondir` of one of these leads to;
///  - those of submodules, by name and by what lies in `modules`.
/// One that lies outside is not looked at: it cannot be written. Of each: `hooks`, `config`,
/// `commondir` (made to hold ".", which is what its absence means: gitrepository-layout(5)), `info`,
/// `worktrees` (the last two not of submodules), `config.worktree` where it is there, or where
/// extensions.worktreeConfig is on. (Where it is off git does not read that file, and one that a
/// command makes is in the report: a mount for it would slow every run down.) A repository that
/// `.git` leads to, or a bare one, may have worktrees in the workspace: of these `commondir` and
/// `gitdir` alone, so that a commit in them works.
/// And what the configuration names in the workspace (git_obeyed.hpp), `global` included.
/// With `as_found` only what is there: in a read-only workspace nothing can be added.
/// Errors: `carve_out_unusable` when any of them is a link, is reached through a link of the
/// workspace or is of the wrong kind, and when one that has to be made cannot be;
/// `not_enforceable` when the reading takes more than `most`.
[[nodiscard]] std::expected<git_state, refusal> look_at_git(const std::string& workspace,
                                                            int directory, git_files mode,
                                                            const git_sources& global = {},
                                                            const git_limits& most = {});

}  // namespace pinfold
