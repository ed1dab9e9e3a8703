// The look at a workspace's repositories under way: from where git begins to every one that shares
// with it, their doors on the way. No part of the interface.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/refusal.hpp>

#include "sandbox/git_obeyed.hpp"
#include "sandbox/git_state.hpp"
#include "sandbox/git_state/carving.hpp"
#include "sandbox/git_state/ground.hpp"

namespace pinfold {

namespace doors {

inline constexpr git_door hooks{"hooks", file_kind::directory, {}};
inline constexpr git_door config{"config", file_kind::file, {}};
inline constexpr git_door info{"info", file_kind::directory, {}};
inline constexpr git_door worktrees{"worktrees", file_kind::directory, {}};
inline constexpr git_door common{"commondir", file_kind::file, ".\n"};
inline constexpr git_door gitdir{"gitdir", file_kind::file, {}};
inline constexpr git_door worktree_config{"config.worktree", file_kind::file, {}};

}  // namespace doors

/// How a repository was come to, which says what of it is held.
enum class found_as : std::uint8_t { own, led_to, linked, submodule };

struct git_repository {
  std::string gitdir;              ///< below the workspace; empty: the workspace is one
  std::vector<std::string> trees;  ///< its work trees: where git starts what it runs
  found_as how;
  bool is_whole{true};  ///< false: what is not there is not made, which would make it one
};

/// `run` once.
class git_survey {
 public:
  git_survey(const git_ground& ground, git_files mode, const git_sources& global)
      : ground_{ground}, mode_{mode}, global_{global}, carving_{ground, state_} {}

  [[nodiscard]] std::expected<git_state, refusal> run();

 private:
  [[nodiscard]] refusal not_usable(std::string_view tail, std::string why) const;
  [[nodiscard]] std::expected<git_settings, refusal> settings_of(std::string path) const;
  void note_worktree_config(const git_settings& settings);
  [[nodiscard]] git_step look_at(const git_repository& one);
  [[nodiscard]] std::expected<std::vector<std::string>, refusal> trees_of(
      const git_repository& one, const git_settings& settings);
  [[nodiscard]] git_step carve_doors(const git_repository& one, int git);
  [[nodiscard]] git_step finish();
  [[nodiscard]] std::vector<std::string> every_tree() const;

  // Where git begins, and what leads on to another repository (begin.cpp).
  [[nodiscard]] git_step begin_at_dot_git();
  [[nodiscard]] git_step begin_above();
  [[nodiscard]] git_step begin_at_top();
  [[nodiscard]] git_step follow(std::string_view named, const std::string& start,
                                git_repository one);
  [[nodiscard]] git_step look_outside(const git_way& way, const git_repository& one);

  // Repositories in one: worktrees and submodules (linked.cpp).
  [[nodiscard]] git_step carve_worktrees(const git_repository& one, int git, git_files missing);
  [[nodiscard]] std::expected<std::vector<git_repository>, refusal> linked_in(
      const std::string& at, const std::vector<std::string>& names);
  [[nodiscard]] git_step carve_each(const std::string& at, const std::vector<std::string>& names,
                                    std::vector<git_repository> linked);
  [[nodiscard]] git_step look_at_modules(const git_repository& one, int git,
                                         const git_settings& settings);

  const git_ground& ground_;
  git_files mode_;
  const git_sources& global_;
  git_state state_;
  git_carving carving_;
  std::vector<git_repository> pending_;
  std::unordered_set<std::string> seen_;
  std::unordered_map<std::string, std::vector<std::string>> linked_trees_;
  std::vector<git_naming> names_;
  std::vector<std::pair<std::string, descriptor>> gitdirs_;
  bool has_worktree_config_{false};
};

}  // namespace pinfold
