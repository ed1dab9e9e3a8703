#include "sandbox/git_place.hpp"

#include <sys/stat.h>

#include <algorithm>

#include <pinfold/path.hpp>

namespace pinfold {

repository_found find_repository(std::string_view workspace, const sandbox_view& view) {
  for (auto at = workspace; !at.empty(); at = parent_of(at)) {
    const std::string directory{at};
    struct stat about {};
    if (::lstat((directory == "/" ? "/.git" : directory + "/.git").c_str(), &about) == 0) {
      if (at.size() == workspace.size()) {
        return {S_ISDIR(about.st_mode) ? git_place::here : git_place::linked, directory};
      }
      const auto covers = [&](const std::string& place) { return contains(place, directory); };
      const bool is_hidden = view.is_minimal || std::ranges::any_of(view.hidden, covers);
      return {is_hidden ? git_place::hidden : git_place::above, directory};
    }
    if (at == "/") break;
  }
  return {};
}

std::string what_git_can_do(const repository_found& found, const sandbox_view& view) {
  switch (found.place) {
    case git_place::none:
      return {};
    case git_place::here:
      if (view.is_read_only) return "can be read: nothing can be committed, as nothing can be written";
      return "works, but its config and hooks are read-only: what writes them (git config, branch "
             "-m, remote add, sparse-checkout) fails with git's own error";
    case git_place::linked:
      return "the file .git leads to a repository elsewhere, which is read where it is visible: "
             "nothing can be committed";
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
