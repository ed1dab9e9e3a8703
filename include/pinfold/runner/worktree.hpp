// Worktrees: a working tree of its own for each agent, cut from a commit of a git repository and on a
// branch of its own, so that uncommitted work of the parent can neither be seen nor touched. A worktree
// that holds anything git would show is never removed.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinfold/refusal.hpp>

namespace pinfold {

/// What a worktree is to be made of.
struct worktree_request {
  std::string repository{"."};  ///< the parent: a folder in the working tree of a repository
  /// Of letters, digits, '.', '_' and '-', 64 at most; it begins with a letter or a digit, and does not
  /// end in '.' or ".lock". Empty: one by chance.
  std::string name{};
};

/// One worktree. The guard moves to it by one assignment: `request.workspace = made.path`, or
/// `workspace::open(made.path)`; the parent's files are then outside.
struct worktree {
  std::string name;
  std::string path;           ///< canonical
  std::string branch;         ///< "pinfold/NAME/work"
  std::string base;           ///< the commit that it was cut from
  std::string parent;         ///< the top of the parent's working tree
  std::string parent_branch;  ///< the branch that the parent was on; empty where it was on a commit

  friend bool operator==(const worktree&, const worktree&) = default;
};

enum class worktree_end : bool { removed, kept };
enum class branch_end : bool { removed, kept };

[[nodiscard]] constexpr std::string_view name_of(worktree_end value) noexcept {
  return value == worktree_end::removed ? "removed" : "kept";
}

/// What became of a worktree that was finished.
struct finished_worktree {
  worktree about;
  worktree_end end{worktree_end::kept};
  branch_end branch{branch_end::kept};
  std::uint64_t commits{0};  ///< that the branch holds and the parent's branch does not
  /// Why it is kept: lines of `git status --porcelain` and sentences, the first `most_reasons` of them.
  std::vector<std::string> reasons;
  std::string deletes;  ///< where it is kept: a line for a shell by which a person deletes all of it
  std::string summary;  ///< all of this as one text, to be appended to a tool's result

  static constexpr std::size_t most_reasons = 50;
};

enum class worktree_state : std::uint8_t {
  clean,   ///< `finish` would remove it
  dirty,   ///< `finish` would keep it
  stale,   ///< a create or a finish was killed, or its repository or its tree is gone
  in_use,  ///< a run, a create or a finish is under way in it
};

[[nodiscard]] constexpr std::string_view name_of(worktree_state value) noexcept {
  switch (value) {
    case worktree_state::clean:
      return "clean";
    case worktree_state::dirty:
      return "dirty";
    case worktree_state::stale:
      return "stale";
    case worktree_state::in_use:
      return "in_use";
  }
  return "stale";
}

/// One that is there, and whether it may be removed now.
struct listed_worktree {
  worktree about;
  worktree_state state{worktree_state::stale};
  std::vector<std::string> reasons;  ///< as in `finished_worktree`
};

/// The worktrees of one caller, in `$XDG_STATE_HOME/pinfold/worktrees` (by default below
/// `~/.local/state`), each beside a record of the runner's own: where its repository lies is known from
/// that, never from a file that an agent could have written. git is started by the one launcher, with
/// nothing of the repository's configuration in force: no hook, no filter, no monitor. A file is what
/// git has stored, so one that is kept by Git LFS is its pointer. Nothing here passes `--force`. Every
/// member may be called from several threads and processes at once.
class worktrees {
 public:
  /// `environment` holds NAME=VALUE entries; of these XDG_STATE_HOME, XDG_CACHE_HOME and HOME count. Errors:
  /// `invalid_argument` without either; `git_failed` when no git can be trusted.
  [[nodiscard]] static std::expected<worktrees, refusal> for_caller(
      const std::vector<std::string>& environment);

  /// Cuts a worktree from the parent's HEAD, also where a merge or a rebase is under way there, as git
  /// does. Errors, and then nothing is left: `invalid_argument` for a name that cannot be one, and for
  /// a place within the parent's working tree; `already_exists` for a worktree or a branch of that name;
  /// `no_repository`, also for a bare one and one without a commit; `permission_denied` for a place
  /// that is not the caller's alone; `not_enforceable`; `git_failed`.
  [[nodiscard]] std::expected<worktree, refusal> create(const worktree_request& request) const;

  /// Keeps what is dirty, removes what is clean, while it holds the lock that runs in the worktree
  /// hold. A worktree's own cache goes with it. It also completes what was killed. Errors, and then nothing was changed: `not_found` for
  /// what is no worktree of this place; `try_again` while a run is under way in it.
  [[nodiscard]] std::expected<finished_worktree, refusal> finish(const std::string& path) const;

  /// The same at the end of a run, which has no use for an error: a worktree that cannot be finished is
  /// kept, and the summary says why.
  [[nodiscard]] finished_worktree finish_or_keep(const worktree& made) const;

  /// All that are there, by path. It changes none of them. Errors: those of the place.
  [[nodiscard]] std::expected<std::vector<listed_worktree>, refusal> list() const;

  /// Where they lie; there or not.
  [[nodiscard]] const std::string& place() const noexcept { return place_; }

 private:
  worktrees(std::string git, std::string place, std::string caches)
      : git_{std::move(git)}, place_{std::move(place)}, caches_{std::move(caches)} {}

  std::string git_;
  std::string place_;
  std::string caches_;  ///< where those of workspaces lie; empty where there are none
};

}  // namespace pinfold
