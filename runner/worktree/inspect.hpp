// What a worktree holds that would be lost with it. git is asked in a view of the repository, with an
// index of the runner's own: neither what the repository says nor what an agent's index says about a
// file (that it need not be looked at, that it has not changed) counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include <pinfold/refusal.hpp>

#include "worktree/record.hpp"

namespace pinfold {

/// The marks that the runner itself leaves on what git keeps of a worktree, in its file `locked`, so
/// that no `git worktree prune` takes it while it is made or removed.
inline constexpr const char* own_lock_text = "pinfold: it is being made or removed\n";

/// What was found. Where the branch is gone, or its repository, `tip` is the base.
struct inspection {
  std::string tip;
  std::vector<std::string> reasons;  ///< empty: nothing is lost
  std::size_t more{0};               ///< reasons beyond `finished_worktree::most_reasons`
  bool has_repository{true};
};

/// Where the working tree is gone, only its branch is left to be looked at.
enum class inspected_part : bool { all, branch };

/// In order; the last line permits:
///  1. its repository is gone, or the runner's view of it        -> kept: nothing can be compared
///  2. that view is not as it was made, or what git keeps of the
///     worktree is another one's                                 -> kept: no git is started in it
///  3. the file `.git` is not what was made                      -> kept
///  4. a merge, a rebase or the like is under way in it          -> kept
///  5. its HEAD is not on its branch, or a person locked it      -> kept
///  6. `git status --porcelain --ignored=no` shows anything      -> kept
///  7. what git never shows is there (unseen.hpp)                -> kept
///  8. a submodule, or what was added as one, holds anything     -> kept
///  9. something is staged that the branch does not have         -> kept
/// 10. git could not say                                         -> kept
/// 11. anything else                                             -> nothing is lost
[[nodiscard]] inspection inspect_worktree(const std::string& git, const worktree_files& files,
                                          const worktree_record& record, inspected_part part);

/// How many commits `tip` holds that the parent's branch does not; where that is gone, or the parent
/// was on a commit, those that the base does not.
[[nodiscard]] std::expected<std::uint64_t, refusal> commits_beyond_parent(
    const std::string& git, const worktree_files& files, const worktree_record& record,
    const std::string& tip);

}  // namespace pinfold
