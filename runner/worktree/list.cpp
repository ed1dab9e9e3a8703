// What is in the place: each worktree is inspected as a finish would, under the same lock.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/runner/worktree.hpp>

#include "git/run_git.hpp"
#include "worktree/inspect.hpp"
#include "worktree/own_cache.hpp"
#include "worktree/place.hpp"
#include "worktree/record.hpp"
#include "worktree/tree.hpp"

namespace pinfold {
namespace {

bool is_there(const std::string& path) {
  struct stat about {};
  return ::lstat(path.c_str(), &about) == 0;
}

/// Why only a finish brings it to an end, or empty.
std::string why_stale(const worktree_files& files, const known_worktree& known) {
  const auto& record = known.record;
  if (!known.is_complete) return "it was not made to the end";
  if (is_there(files.checking()) || is_there(files.removing())) {
    return "it was not removed to the end";
  }
  if (!is_there(record.about.path)) return "its working tree is gone";
  if (!is_there(record.common_dir)) return "its repository is gone: " + record.common_dir;
  if (!is_there(record.admin_dir())) return "its repository does not know it any more";
  return {};
}

listed_worktree look_at(const std::string& git, const worktree_files& files,
                        const known_worktree& known) {
  listed_worktree found{known.record.about, worktree_state::stale, {}};
  if (auto why = why_stale(files, known); !why.empty()) {
    found.reasons.push_back(std::move(why));
    return found;
  }
  auto inspected = inspect_worktree(git, files, known.record, inspected_part::all);
  found.state = inspected.reasons.empty() ? worktree_state::clean : worktree_state::dirty;
  found.reasons = std::move(inspected.reasons);
  return found;
}

/// The lock is given up again at once, so that a run that begins now is not kept waiting.
bool is_run_in(const std::string& path) {
  const auto lock = lock_directory(path);
  return !lock && lock.error() == EWOULDBLOCK;
}

std::optional<listed_worktree> listed(const std::string& git, const worktree_files& files) {
  const auto folder = lock_directory(files.folder);
  const bool is_held = !folder && folder.error() == EWOULDBLOCK;
  const auto known = read_worktree_record(files);
  if (!known) return std::nullopt;
  if (is_held) return listed_worktree{known->record.about, worktree_state::in_use, {}};
  const bool has_run = is_run_in(known->record.about.path);
  auto found = look_at(git, files, *known);
  if (has_run && found.state != worktree_state::stale) found.state = worktree_state::in_use;
  return found;
}

std::vector<std::string> names_of(const std::string& path) {
  const descriptor held{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  return held ? names_in(held.get()) : std::vector<std::string>{};
}

}  // namespace

std::expected<worktrees, refusal> worktrees::for_caller(
    const std::vector<std::string>& environment) {
  auto place = worktree_place_of(environment);
  if (!place) return std::unexpected{std::move(place.error())};
  auto git = usable_git();
  if (!git) return std::unexpected{std::move(git.error())};
  return worktrees{std::move(*git), std::move(*place), cache_root_of(environment)};
}

std::expected<std::vector<listed_worktree>, refusal> worktrees::list() const {
  const descriptor place{::open(place_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  if (!place && errno != ENOENT) {
    return std::unexpected{worktree_refusal(code::permission_denied, operation::list, place_,
                                            std::strerror(errno))};
  }
  std::vector<listed_worktree> all;
  for (const auto& repository : names_of(place_)) {
    for (const auto& name : names_of(place_ + "/" + repository)) {
      if (!is_worktree_name(name)) continue;
      auto one = listed(git_, worktree_files{place_ + "/" + repository + "/" + name});
      if (one) all.push_back(std::move(*one));
    }
  }
  std::ranges::sort(all, {}, [](const auto& one) { return one.about.path; });
  return all;
}

}  // namespace pinfold
