#include "sandbox/git_place.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/path.hpp>

#include "sandbox/git_state/ground.hpp"

namespace pinfold {
namespace {

/// Whether the file `.git` of the workspace leads to a directory of it.
bool leads_inside(const std::string& workspace) {
  const descriptor directory{::open(workspace.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  git_budget budget{{}};
  const git_ground ground{workspace, directory.get(), budget};
  const auto text = text_of(ground, workspace + "/.git");
  constexpr std::string_view prefix = "gitdir: ";
  if (!text || !*text || !(*text)->starts_with(prefix)) return false;
  const auto named = path_in(std::string_view{**text}.substr(prefix.size()));
  const auto way = find_way(ground, named, workspace);
  return way && way->where == git_way::place::inside;
}

bool is_bare(const std::string& workspace) {
  struct stat about {};
  return std::ranges::all_of(std::array{"/HEAD", "/objects", "/refs"}, [&](const char* name) {
    return ::lstat((workspace + name).c_str(), &about) == 0;
  });
}

}  // namespace

repository_found find_repository(std::string_view workspace, const sandbox_view& view) {
  for (auto at = workspace; !at.empty(); at = parent_of(at)) {
    const std::string directory{at};
    struct stat about {};
    if (::lstat((directory == "/" ? "/.git" : directory + "/.git").c_str(), &about) == 0) {
      if (at.size() == workspace.size()) {
        if (S_ISDIR(about.st_mode)) return {git_place::here, directory};
        return {leads_inside(directory) ? git_place::apart : git_place::linked, directory};
      }
      const auto covers = [&](const std::string& place) { return contains(place, directory); };
      const bool is_hidden = view.is_minimal || std::ranges::any_of(view.hidden, covers);
      return {is_hidden ? git_place::hidden : git_place::above, directory};
    }
    if (at.size() == workspace.size() && is_bare(directory)) return {git_place::bare, directory};
    if (at == "/") break;
  }
  return {};
}

std::string what_git_can_do(const repository_found& found, const sandbox_view& view) {
  switch (found.place) {
    case git_place::none:
      return {};
    case git_place::here:
    case git_place::apart:
    case git_place::bare:
      if (view.is_read_only) return "can be read: nothing can be committed, as nothing can be written";
      return "works, but its config and hooks are read-only: what writes them (git config, branch "
             "-m, remote add, sparse-checkout) fails with git's own error";
    case git_place::linked:
      if (!view.branch.empty()) {
        return "works on the branch " + view.branch +
               " alone, and what is committed there is imported when the command has ended; all "
               "else of the repository is read-only: git stash, fetch, tag, branch and gc fail";
      }
      return "the file .git leads to a repository elsewhere, which can be read: nothing can be "
             "committed but with --git-commit, on a branch pinfold/NAME/work";
    case git_place::above:
      return "the workspace is a folder of the repository at " + found.path +
             ", which can be read: nothing can be committed, since .git lies outside";
    case git_place::hidden:
      return "the workspace is a folder of the repository at " + found.path +
             ", which is hidden: git finds no repository";
  }
  return {};
}

}  // namespace pinfold
