// Where git finds the repository of a workspace, and what a command inside can do with it: for
// people who wonder why git says what it says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

enum class git_place : std::uint8_t {
  none,    ///< neither here nor above
  here,    ///< `.git` is a directory of the workspace
  apart,   ///< `.git` is a file: the repository lies elsewhere in the workspace
  linked,  ///< the same, but it lies outside and is shown for reading
  bare,    ///< the workspace is one, without a work tree
  above,   ///< the workspace is a folder of a repository
  hidden,  ///< the same, but the sandbox hides that repository
};

/// What the sandbox leaves of the places above the workspace.
struct sandbox_view {
  std::vector<std::string> hidden;  ///< canonical paths
  bool is_minimal{false};           ///< nothing above the workspace is there
  bool is_read_only{false};         ///< the workspace itself
  std::string branch{};             ///< of a linked worktree: what may be committed on, or empty
};

struct repository_found {
  git_place place{git_place::none};
  std::string path;  ///< the directory that has `.git`, or empty
};

/// Looks from the canonical `workspace` upwards, as git does.
[[nodiscard]] repository_found find_repository(std::string_view workspace, const sandbox_view& view);

/// One sentence for each kind of place; empty for `none`.
[[nodiscard]] std::string what_git_can_do(const repository_found& found, const sandbox_view& view);

}  // namespace pinfold
