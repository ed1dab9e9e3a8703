// Repositories in a repository. They are held one by one where that is few, or all of them at once.
#include "sandbox/git_state/survey.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include <pinfold/path.hpp>

#include "sandbox/git_state/modules.hpp"

namespace pinfold {

/// All of them at once, or, where it is a repository to be worked with from its worktrees alone,
/// each one: a commit has to write there.
git_step git_survey::carve_worktrees(const git_repository& one, int git, git_files missing) {
  const auto at = tail_of(one.gitdir, doors::worktrees.name);
  if (one.how == found_as::led_to) {
    const descriptor directory{
        open_through_no_link(git, doors::worktrees.name, O_RDONLY | O_DIRECTORY)};
    if (directory) {
      auto names = directories_in(ground_, directory.get(), ground_.path_of(at));
      if (!names) return std::unexpected{std::move(names.error())};
      auto linked = linked_in(at, *names);
      if (!linked) return std::unexpected{std::move(linked.error())};
      auto& trees = linked_trees_[one.gitdir];
      for (const auto& tree : *linked) trees.push_back(tree.trees.front());
      const bool is_any_inside = std::ranges::any_of(
          trees, [this](const auto& tree) { return contains(ground_.workspace, tree); });
      if (is_any_inside && names->size() <= most_submodules) {
        return carve_each(at, *names, std::move(*linked));
      }
    }
  }
  return carving_.carve_door(git, one.gitdir, doors::worktrees, missing);
}

/// Those that git takes for worktrees, wherever their trees are.
std::expected<std::vector<git_repository>, refusal> git_survey::linked_in(
    const std::string& at, const std::vector<std::string>& names) {
  std::vector<git_repository> linked;
  for (const auto& name : names) {
    const auto gitdir = tail_of(at, name);
    auto text = text_of(ground_, ground_.path_of(tail_of(gitdir, doors::gitdir.name)));
    if (!text) return std::unexpected{std::move(text.error())};
    auto shares = text_of(ground_, ground_.path_of(tail_of(gitdir, doors::common.name)));
    if (!shares) return std::unexpected{std::move(shares.error())};
    if (!*text || !*shares) continue;
    auto way = find_way(ground_, path_in(**text), ground_.path_of(gitdir));
    if (!way) return std::unexpected{std::move(way.error())};
    linked.push_back({gitdir, {std::string{parent_of(way->path)}}, found_as::linked});
  }
  return linked;
}

/// A repository's own housekeeping writes in all of them; what is none of them is shut as a whole.
git_step git_survey::carve_each(const std::string& at, const std::vector<std::string>& names,
                                std::vector<git_repository> linked) {
  carving_.pin(at);
  for (const auto& name : names) {
    const auto gitdir = tail_of(at, name);
    if (std::ranges::find(linked, gitdir, &git_repository::gitdir) != linked.end()) continue;
    if (auto done = carving_.carve(gitdir, file_kind::directory); !done) return done;
  }
  std::ranges::move(linked, std::back_inserter(pending_));
  return {};
}

git_step git_survey::look_at_modules(const git_repository& one, int git,
                                     const git_settings& settings) {
  const auto at = tail_of(one.gitdir, "modules");
  const int opened = open_through_no_link(git, "modules", O_RDONLY | O_DIRECTORY);
  if (opened == -ENOENT) return {};
  if (opened < 0) return std::unexpected{not_usable(at, std::strerror(-opened))};
  const descriptor modules{opened};
  auto found = repositories_in(ground_, modules.get(), at);
  if (!found) return std::unexpected{std::move(found.error())};
  std::unordered_set<std::string> named;
  for (const auto& setting : settings.all) {
    if (setting.section != "submodule" || setting.subsection.empty()) continue;
    auto way = find_way(ground_, setting.subsection, ground_.path_of(at));
    if (!way) return std::unexpected{std::move(way.error())};
    if (!way->link.empty() && way->kind) {
      return std::unexpected{not_usable(way->link, "a submodule is reached through this link")};
    }
    const bool is_below = way->tail.starts_with(at + "/");
    if (way->kind == file_kind::directory && is_below) named.insert(std::move(way->tail));
  }
  std::erase_if(*found, [&named](const auto& other) { return named.contains(other.tail); });
  if (found->size() + named.size() > most_submodules) {
    if (auto done = carving_.carve(at, file_kind::directory); !done) return done;
  }
  for (auto& other : *found) {
    pending_.push_back({std::move(other.tail), {}, found_as::submodule, other.is_whole});
  }
  for (const auto& tail : named) pending_.push_back({tail, {}, found_as::submodule});
  return {};
}

}  // namespace pinfold
