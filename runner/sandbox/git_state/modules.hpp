// The directories of repositories below one of git's: those of submodules, which a name may put
// anywhere, and those of worktrees.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/refusal.hpp>

#include "sandbox/git_state/ground.hpp"

namespace pinfold {

struct repository_below {
  std::string tail;      ///< below the workspace
  bool is_whole{false};  ///< git takes it for one as it is; else it has a part of one
};

/// What looks like a repository in the directory `tail`, which is open as `modules`. A name may hold slashes, so what looks like one is searched as well,
/// but for the parts that git itself makes in a whole one: whoever puts a HEAD beside a submodule
/// hides nothing below it. Error: the budget's.
[[nodiscard]] std::expected<std::vector<repository_below>, refusal> repositories_in(
    const git_ground& ground, int modules, std::string_view tail);

/// The names of the directories in `directory`, in no order. Error: the budget's.
[[nodiscard]] std::expected<std::vector<std::string>, refusal> directories_in(
    const git_ground& ground, int directory, std::string_view tail);

}  // namespace pinfold
