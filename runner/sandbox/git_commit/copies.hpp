// The private copies of one run that may commit: what git writes to in a worktree, in a directory of the
// runner's own that is laid over the originals inside. A later run never uses them again.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/refusal.hpp>
#include <pinfold/sandbox/confinement.hpp>

#include "host/owned_way.hpp"
#include "sandbox/caller.hpp"
#include "sandbox/git_commit/conditions.hpp"

namespace pinfold {

/// The directory that holds the copies of all runs of this caller, there or not:
/// $XDG_STATE_HOME/pinfold/commits, by default ~/.local/state/pinfold/commits; canonical. Errors: those
/// of the resolver; `not_enforceable` for a caller without a home.
[[nodiscard]] std::expected<std::string, refusal> commits_root_of(const caller& who);

/// A directory of its own below that. In it lie `parent`, an empty one over which the repository's
/// objects are shown, and `private` with `objects`, `gitdir`, `refs` and `logs`. The command sees the
/// first at its own path and those of the second at the originals' alone.
class commit_copies {
 public:
  /// Copies what git needs of the worktree's directory: HEAD, the index and its parts, configuration,
  /// the log of HEAD; and makes the directories of the branch's refs and logs in the repository, which
  /// a mount needs. With `left_out` nothing is made or opened. Errors: those of `open_owned_way`,
  /// `permission_denied`, `resource_exhausted` (a full disk).
  [[nodiscard]] static std::expected<commit_copies, refusal> make(const commit_ground& ground,
                                                                  const std::string& root,
                                                                  missing_part missing);

  commit_copies(commit_copies&& other) noexcept;
  commit_copies& operator=(commit_copies&&) = delete;
  /// Removes the directory with all that is in it, through no link, but for what was to be kept.
  ~commit_copies();

  void keep() noexcept { is_kept_ = true; }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Open (O_RDONLY); negative where nothing was made.
  [[nodiscard]] int directory() const noexcept { return directory_.get(); }
  /// Whether the worktree's own index is the file that it was when the copies were made.
  [[nodiscard]] bool has_same_index(const commit_ground& ground) const;

 private:
  commit_copies(std::string path, descriptor root) : path_{std::move(path)}, root_{std::move(root)} {}
  [[nodiscard]] std::expected<void, refusal> fill(const commit_ground& ground);

  std::string path_;
  descriptor root_;
  descriptor directory_;
  std::string index_;  ///< what tells the worktree's index from a later one
  bool is_kept_{false};
};

/// What is shown where: for `confinement::replaced`, in the order in which it has to be made.
[[nodiscard]] std::vector<replaced_path> replaced_by(const commit_copies& copies,
                                                     const commit_ground& ground);

/// What is covered once that is done.
[[nodiscard]] std::string covered_by(const commit_copies& copies);

}  // namespace pinfold
