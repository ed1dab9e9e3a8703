// What came of the commits that a command made in a linked worktree (`run_request::git_commit`): plain
// data in the run record.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pinfold {

enum class commits_end : std::uint8_t {
  nothing_new,  ///< the branch is where it was
  imported,     ///< the branch is at `after`, in the repository and for the host
  refused,      ///< what was left does not come in: `reason` says why
  failed,       ///< it could come in, and did not: `reason` says why
};

[[nodiscard]] constexpr std::string_view name_of(commits_end value) noexcept {
  switch (value) {
    case commits_end::nothing_new:
      return "nothing_new";
    case commits_end::imported:
      return "imported";
    case commits_end::refused:
      return "refused";
    case commits_end::failed:
      return "failed";
  }
  return "failed";
}

/// What came of the commits of one run: whether its branch moved in the parent repository, and why not.
struct git_commit_report {
  commits_end ended{commits_end::failed};
  std::string branch;         ///< without refs/heads/
  std::string before;         ///< where it was when the run started
  std::string after;          ///< where the command left it; empty where that is no commit's name
  std::uint64_t commits{0};   ///< in `after` and not in `before`
  bool is_rewritten{false};   ///< `after` does not contain `before` (an amend, a rebase)
  std::string reason;         ///< one clause; empty when all came in
  std::string kept;           ///< the directory with what did not come in, or empty
};

}  // namespace pinfold
