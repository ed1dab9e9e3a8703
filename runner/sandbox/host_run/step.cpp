#include "sandbox/host_run/step.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <pinfold/disk/kernel.hpp>
#include <pinfold/path.hpp>

#include "git/git_index.hpp"
#include "sandbox/look_below.hpp"

namespace pinfold {

std::string below(const std::string& directory, std::string_view name) {
  return directory.empty() ? std::string{name} : directory + "/" + std::string{name};
}

bool is_known_repository(const host_run_search& search, const std::string& path) {
  return search.carved.contains(below(path, "commondir"));
}

std::string_view last_name(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

namespace {

/// What a directory in one of git's is.
std::optional<to_visit> entered_in_git(const to_visit& at, bool is_repository, std::string path,
                                       std::string_view name) {
  if (is_object_directory(name) && last_name(at.path) == "objects") return std::nullopt;
  const bool is_gitdir = is_repository || last_name(at.path) == ".git";
  const bool has_users_names =
      (at.has_users_names && !is_repository) || name == "refs" || name == "logs";
  auto kind = room::git;
  if (!at.has_users_names || is_repository) {
    if (name == "hooks") kind = room::hooks;
    if (is_gitdir && (name == "remotes" || name == "branches")) kind = room::remotes;
    if (is_gitdir && is_sequence_directory(name)) kind = room::sequence;
  }
  return to_visit{std::move(path), kind, false, has_users_names};
}

}  // namespace

std::optional<to_visit> entered(const host_run_search& search, const to_visit& at,
                                bool is_repository, std::string_view name) {
  auto path = below(at.path, name);
  if (search.carved.contains(path)) return std::nullopt;
  if (std::ranges::find(search.hooks_paths, path) != search.hooks_paths.end()) {
    return to_visit{std::move(path), room::hooks};
  }
  if (at.kind == room::git) return entered_in_git(at, is_repository, std::move(path), name);
  if (at.kind != room::plain) {
    if (!is_entered_from(at.kind, last_name(at.path), name)) return std::nullopt;
    return to_visit{std::move(path), at.kind};
  }
  const auto known = std::ranges::find(directories_by_name, name, &known_directory::name);
  if (known != directories_by_name.end()) return to_visit{std::move(path), known->kind};
  if (is_known_repository(search, path)) return to_visit{std::move(path), room::git};
  if (const auto kind = room_of_place(last_name(at.path), name)) {
    return to_visit{std::move(path), *kind};
  }
  if (std::ranges::binary_search(search.ignored, name)) return std::nullopt;
  return to_visit{std::move(path), room::plain};
}

bool is_passed_over(const host_run_search& search, std::string_view path) {
  return std::ranges::any_of(components{path}, [&search](auto name) {
    return std::ranges::binary_search(search.ignored, name);
  });
}

std::vector<to_visit> beginnings(const host_run_search& search) {
  std::vector<to_visit> all{{"", room::plain}};
  for (const auto& path : search.hooks_paths) {
    if (is_passed_over(search, path) && !search.carved.contains(path)) {
      all.push_back({path, room::hooks});
    }
  }
  return all;
}

int open_in(int top, const std::string& path, int flags) {
  return beneath::open_below(beneath::lookup::openat2, top, path.empty() ? "." : path.c_str(),
                             {.flags = flags});
}

listing_choice choice_for(const host_run_search& search, room kind, std::size_t most) {
  return {kind, search.set_id != set_id_files::barred, most};
}

std::optional<git_index_place> index_of(const to_visit& at) {
  if (at.kind != room::git || last_name(at.path) != ".git") return std::nullopt;
  const auto slash = at.path.rfind('/');
  return git_index_place{at.path + "/index",
                         slash == std::string::npos ? std::string{} : at.path.substr(0, slash)};
}

bool is_known_index(const host_run_search& search, int top, const git_index_place& place) {
  struct stat about{};
  if (!search.gitlinks.contains(place.index)) return false;
  if (look_below(top, place.index, about) != 0) return false;
  return std::pair{about.st_ctim.tv_sec, about.st_ctim.tv_nsec} <
         std::pair{search.since.tv_sec, search.since.tv_nsec};
}

hidden_gitlinks hidden_gitlinks_of(const host_run_search& search, int top,
                                   const git_index_place& place) {
  if (search.ignored.empty()) return {};
  const int opened = open_in(top, place.index, O_RDONLY | O_NONBLOCK);
  if (opened == -ENOENT || opened == -ENOTDIR) return {};
  const descriptor file{opened};
  // A link is in the report as such.
  if (!file) return {{}, opened == -ELOOP};
  auto paths = gitlinks_of(file.get());
  if (!paths) return {{}, false};
  hidden_gitlinks found;
  for (const auto& path : *paths) {
    auto whole = below(place.tree, path);
    if (is_passed_over(search, whole)) found.paths.push_back(std::move(whole));
  }
  return found;
}

}  // namespace pinfold
