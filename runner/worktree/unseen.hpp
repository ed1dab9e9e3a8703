// What lies in a working tree and `git status` never shows: anything below a name `.git`, and what an
// ignore file hides that no commit holds. It is found by walking the tree, by descriptors and through no
// link, in ignored directories as well; nothing of it is read.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <vector>

#include <pinfold/refusal.hpp>

#include "worktree/record.hpp"

namespace pinfold {

/// A tree that has more of it is not looked through to its end.
struct walk_bounds {
  std::size_t names{2'000'000};
  std::size_t repositories{1'000};
  std::size_t ignore_bytes{std::size_t{16} << 20};  ///< of the paths of all ignore files
};

/// Paths below the tree.
struct unseen_names {
  std::vector<std::string> repositories;  ///< called `.git` in any case, but for the top's own
  std::vector<std::string> ignore_files;  ///< called `.gitignore` in any case, and no directory
  std::string not_seen;  ///< why a part was not looked through, a sentence; empty: all of it was
};

/// Looks through the open directory `top`. A part that cannot be read, lies on another file system, has
/// a path that no program can name (PATH_MAX) or exceeds the bounds ends it.
[[nodiscard]] unseen_names find_unseen(int top, const walk_bounds& most = {});

/// Why a worktree has to be kept for what git does not show; empty: there is nothing of that kind. The
/// view's index holds the branch's tip. In order; the last line permits:
///  1. a part of the tree that was not looked through                       -> kept
///  2. a name `.git` below the top, whatever it is and wherever it lies     -> kept
///  3. an ignore file that the tip does not have, in a directory that the
///     tip's own rules do not ignore: what it hides is hidden by no commit  -> kept
///  4. anything else                                                        -> nothing is lost
/// Error: what git could not say about the ignore files.
[[nodiscard]] std::expected<std::vector<std::string>, refusal> unseen_by_git(
    const std::string& git, const worktree_files& files, const worktree_record& record);

}  // namespace pinfold
