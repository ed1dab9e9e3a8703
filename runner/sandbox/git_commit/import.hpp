// What a command committed comes into the repository, when everything of it is gone: checked where it
// can do no harm, then written by git. The repository's own configuration and hooks are never read, nor
// anything that the command wrote but objects and one ref.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include <pinfold/runner/git_commit.hpp>

#include "sandbox/git_commit/conditions.hpp"
#include "sandbox/git_commit/copies.hpp"
#include "sandbox/git_commit/taken.hpp"

namespace pinfold {

struct import_bounds {
  taken_bounds taken{};
  std::uint64_t structure{std::uint64_t{64} << 20};  ///< bytes of one commit, tree or tag, unpacked
  std::uint64_t file{std::uint64_t{1} << 30};        ///< bytes of one file, unpacked
  std::uint64_t all{std::uint64_t{8} << 30};         ///< of all of them
  std::uint64_t files{2'000'000};                    ///< in the tree of the new tip
  std::uint64_t memory{std::uint64_t{1} << 30};      ///< bytes that git takes for one thing
  std::chrono::milliseconds time{std::chrono::minutes{10}};
  /// Borrowed; when one becomes readable before the branch moves, the import ends as `failed`, and what
  /// was committed is kept.
  std::array<int, 2> cancelled{-1, -1};
};

/// In order; a step that is not met ends it, with nothing of the repository changed up to the sixth:
///  1. HEAD of the private copy is the branch still, no other ref was made beside it, and the branch
///     is a regular file with the name of an object; one that it had before ends it as `nothing_new`
///  2. the objects are copied (taken.hpp), packs indexed anew, and none is larger than the bounds
///  3. what the new tip has and the repository has not is packed, and that pack is indexed with
///     `--strict` beside the repository's objects, which no forged object can stand in for there
///  4. the new tip is a commit, complete, contains the base, and unpacks to no more files than allowed
///  5. the pack is indexed in the repository, under a `.keep` until the branch holds it
///  6. `update-ref` with the old value: a branch that somebody else moved meanwhile stays
///  7. the worktree's index gets the new tree, unless somebody else changed it meanwhile; what was only
///     staged is not staged any more, and files are as they were
/// Whatever does not come in is kept (`kept`), with the reason. Killed between 5 and 6, objects lie
/// in the repository that nothing names, and the copies stay where they are.
[[nodiscard]] git_commit_report import_commits(const commit_ground& ground, commit_copies& copies,
                                               const import_bounds& most = {});

}  // namespace pinfold
