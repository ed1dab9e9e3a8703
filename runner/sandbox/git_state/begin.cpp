// Where git begins to look, and what leads on from there.
#include "sandbox/git_state/survey.hpp"

#include <utility>

#include <pinfold/path.hpp>

namespace pinfold {

git_step git_survey::begin_at_dot_git() {
  const auto kind = kind_of(ground_.directory, ".git");
  if (!kind) return begin_above();
  if (*kind == file_kind::link) {
    return std::unexpected{not_usable(".git", "it is a symbolic link or a special file")};
  }
  if (*kind == file_kind::directory) {
    pending_.push_back({".git", {ground_.workspace}, found_as::own});
    return {};
  }
  if (auto done = carving_.carve(".git", file_kind::file); !done) return done;
  auto text = text_of(ground_, ground_.path_of(".git"));
  if (!text) return std::unexpected{std::move(text.error())};
  constexpr std::string_view prefix = "gitdir: ";
  if (!*text || !(*text)->starts_with(prefix)) return {};  // git takes it for nothing
  return follow(path_in(std::string_view{**text}.substr(prefix.size())), ground_.workspace,
                {{}, {ground_.workspace}, found_as::led_to});
}

/// The workspace may be a folder of a repository, whose configuration may name files of it.
git_step git_survey::begin_above() {
  for (auto at = parent_of(ground_.workspace); !at.empty(); at = parent_of(at)) {
    auto way = find_way(ground_, ".git", std::string{at});  // each name above is known for what it is
    if (!way) return std::unexpected{std::move(way.error())};
    const git_repository above{{}, {std::string{at}}, found_as::led_to};
    if (way->where == git_way::place::outside && way->kind == file_kind::directory) {
      return look_outside(*way, above);
    }
    if (at == "/") break;
  }
  return {};
}

/// A bare repository, by what git takes one for.
git_step git_survey::begin_at_top() {
  const auto is_there = [this](const char* name) {
    return kind_of(ground_.directory, name).has_value();
  };
  if (!is_there("HEAD")) return {};
  if (is_there("commondir") || (is_there("objects") && is_there("refs"))) {
    pending_.push_back({{}, {ground_.workspace}, found_as::led_to});
  }
  return {};
}

/// The repository that a file names, if it lies in the workspace; `one` says the rest of it.
git_step git_survey::follow(std::string_view named, const std::string& start, git_repository one) {
  if (named.empty()) return {};
  if (named.contains('\0')) {
    return std::unexpected{
        unusable(start, "a path in it that leads to a repository is no text")};
  }
  auto way = find_way(ground_, named, start);
  if (!way) return std::unexpected{std::move(way.error())};
  if (!way->link.empty()) {
    return std::unexpected{not_usable(way->link, "a repository is reached through this link")};
  }
  if (way->turns_back) {
    return std::unexpected{unusable(
        way->path, "a repository is named with \"..\" after a directory; name it plainly")};
  }
  if (way->where == git_way::place::outside) return look_outside(*way, one);
  const bool is_bare = way->where == git_way::place::top;
  if (is_bare || way->kind == file_kind::directory) {
    one.gitdir = way->tail;
    pending_.push_back(std::move(one));
    return {};
  }
  // Whoever makes it makes its hooks.
  if (mode_ == git_files::as_found) return {};
  return std::unexpected{unusable(way->path, "a file leads to a repository that is not there")};
}

/// A repository that cannot be written still names files of the workspace.
git_step git_survey::look_outside(const git_way& way, const git_repository& one) {
  if (way.kind != file_kind::directory) return {};
  auto text = text_of(ground_, way.path + "/commondir");
  if (!text) return std::unexpected{std::move(text.error())};
  auto place = way.path;
  if (*text) {
    auto shared = find_way(ground_, path_in(**text), way.path);
    if (!shared) return std::unexpected{std::move(shared.error())};
    if (shared->where != git_way::place::outside) {
      return follow(path_in(**text), way.path, one);
    }
    place = shared->path;
  }
  git_naming names{.files = {}, .bases = one.trees};
  for (const auto& file : {place + "/config", way.path + "/config.worktree"}) {
    auto settings = settings_of(file);
    if (!settings) return std::unexpected{std::move(settings.error())};
    note_worktree_config(*settings);
    names.files.push_back(std::move(*settings));
  }
  names_.push_back(std::move(names));
  return {};
}

}  // namespace pinfold
