// git has more doors than hooks and config. A new `commondir` makes git take hooks and config from
// elsewhere; `worktrees/X/commondir` does it for linked worktrees; `info/attributes` turns on
// filters. All are read-only inside.
#include "sandbox/git_state/survey.hpp"

#include <fcntl.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include <pinfold/path.hpp>

#include "sandbox/git_config.hpp"

namespace pinfold {

std::expected<git_state, refusal> git_survey::run() {
  auto done = begin_at_dot_git();
  if (done) done = begin_at_top();
  while (done && !pending_.empty()) {
    const auto next = std::move(pending_.back());
    pending_.pop_back();
    done = look_at(next);
  }
  if (done) done = finish();
  if (!done) return std::unexpected{std::move(done.error())};
  return std::move(state_);
}

refusal git_survey::not_usable(std::string_view tail, std::string why) const {
  return unusable(ground_.path_of(tail), std::move(why));
}

std::expected<git_settings, refusal> git_survey::settings_of(std::string path) const {
  auto text = text_of(ground_, path);
  if (!text) return std::unexpected{std::move(text.error())};
  auto all = *text ? parse_git_config(**text) : std::vector<git_setting>{};
  return git_settings{std::move(path), std::move(all)};
}

void git_survey::note_worktree_config(const git_settings& settings) {
  for (const auto& setting : settings.all) {
    has_worktree_config_ |= setting.section == "extensions" && setting.key == "worktreeconfig";
  }
}

/// Its doors, what it shares, what it names, then the repositories in it.
git_step git_survey::look_at(const git_repository& one) {
  if (!seen_.insert(one.gitdir).second) return {};
  descriptor git{open_through_no_link(ground_.directory, one.gitdir, O_RDONLY | O_DIRECTORY)};
  if (!git) {
    return std::unexpected{not_usable(one.gitdir, "it is no directory, or reached by a link")};
  }
  if (!one.gitdir.empty()) carving_.pin(one.gitdir);
  if (auto done = carve_doors(one, git.get()); !done) return done;
  auto settings = settings_of(ground_.path_of(tail_of(one.gitdir, "config")));
  if (!settings) return std::unexpected{std::move(settings.error())};
  note_worktree_config(*settings);
  auto trees = trees_of(one, *settings);
  if (!trees) return std::unexpected{std::move(trees.error())};
  if (auto done = look_at_modules(one, git.get(), *settings); !done) return done;
  names_.push_back({.files = {std::move(*settings)}, .bases = std::move(*trees)});
  if (carving_.covers(one.gitdir)) git.reset();  // there may be thousands of those
  gitdirs_.push_back({one.gitdir, std::move(git)});
  return {};
}

/// Where git starts what it runs: the trees that are known, and the one that its own
/// configuration names.
std::expected<std::vector<std::string>, refusal> git_survey::trees_of(
    const git_repository& one, const git_settings& settings) {
  auto trees = one.trees;
  for (const auto& setting : settings.all) {
    if (setting.section != "core" || setting.key != "worktree") continue;
    auto way = find_way(ground_, setting.value, ground_.path_of(one.gitdir));
    if (!way) return std::unexpected{std::move(way.error())};
    if (way->kind == file_kind::directory) trees.push_back(std::move(way->path));
  }
  for (const auto& tree : trees) {
    const auto tail = tail_below(ground_.workspace, tree);
    if (tail && !one.gitdir.empty()) {
      state_.indexes.push_back({tail_of(one.gitdir, "index"), std::string{*tail}});
    }
  }
  auto linked = std::move(linked_trees_[one.gitdir]);
  std::ranges::move(linked, std::back_inserter(trees));
  return trees;
}

git_step git_survey::carve_doors(const git_repository& one, int git) {
  auto text = text_of(ground_, ground_.path_of(tail_of(one.gitdir, doors::common.name)));
  if (!text) return std::unexpected{std::move(text.error())};
  const auto shared = *text ? path_in(**text) : std::string_view{"."};
  const bool is_its_own = shared == ".";
  // Where another one is named, hooks and config of this one count for nothing.
  const auto missing = is_its_own && one.is_whole ? mode_ : git_files::as_found;
  for (const auto& door : {doors::hooks, doors::config}) {
    if (auto done = carving_.carve_door(git, one.gitdir, door, missing); !done) return done;
  }
  if (one.how != found_as::submodule && one.how != found_as::linked) {
    if (auto done = carving_.carve_door(git, one.gitdir, doors::info, missing); !done) return done;
    if (auto done = carve_worktrees(one, git, missing); !done) return done;
  }
  if (auto done = carving_.carve_door(git, one.gitdir, doors::common, missing); !done) return done;
  if (is_its_own) return {};
  auto done = carving_.carve_door(git, one.gitdir, doors::gitdir, git_files::as_found);
  if (!done) return done;
  auto next = one;
  if (next.how == found_as::linked) next.how = found_as::led_to;
  return follow(shared, ground_.path_of(one.gitdir), std::move(next));
}

/// What one repository says of worktrees may be said in another that shares with it, so this
/// comes last.
git_step git_survey::finish() {
  const auto missing = has_worktree_config_ ? mode_ : git_files::as_found;
  for (const auto& [gitdir, git] : gitdirs_) {
    const auto tail = tail_of(gitdir, doors::worktree_config.name);
    if (git && !has_worktree_config_ && !kind_of(git.get(), doors::worktree_config.name)) {
      state_.unmade.push_back(tail);
      continue;
    }
    if (git) {
      auto done = carving_.carve_door(git.get(), gitdir, doors::worktree_config, missing);
      if (!done) return done;
    }
    auto settings = settings_of(ground_.path_of(tail));
    if (!settings) return std::unexpected{std::move(settings.error())};
    if (settings->all.empty()) continue;
    names_.push_back({.files = {std::move(*settings)}, .bases = every_tree()});
  }
  git_obeyed obeyed{ground_, carving_, state_, global_, mode_};
  for (const auto& names : names_) {
    if (auto done = obeyed.add(names); !done) return done;
  }
  std::ranges::sort(state_.pinned);
  for (auto* list : {&state_.hooks_paths, &state_.obeyed}) {
    std::ranges::sort(*list);
    const auto [first, last] = std::ranges::unique(*list);
    list->erase(first, last);
  }
  return {};
}

std::vector<std::string> git_survey::every_tree() const {
  std::vector<std::string> all;
  for (const auto& names : names_) all.insert(all.end(), names.bases.begin(), names.bases.end());
  std::ranges::sort(all);
  const auto [first, last] = std::ranges::unique(all);
  all.erase(first, last);
  return all;
}

}  // namespace pinfold
