#include "sandbox/git_state/carving.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/grant.hpp>
#include <pinfold/path.hpp>

namespace pinfold {
namespace {

bool make(int parent, const git_door& wanted) {
  if (wanted.type == file_kind::directory) {
    return ::mkdirat(parent, wanted.name, 0777) == 0 || errno == EEXIST;
  }
  const descriptor file{
      ::openat(parent, wanted.name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666)};
  if (!file) return errno == EEXIST;
  return ::write(file.get(), wanted.content.data(), wanted.content.size()) ==
         static_cast<ssize_t>(wanted.content.size());
}

bool is_harness_state(std::string_view tail) {
  for (const auto& carve : default_carve_outs) {
    if (carve.kind != carve_kind::harness_state || !tail.starts_with(carve.path)) continue;
    if (tail.size() == carve.path.size() || tail[carve.path.size()] == '/') return true;
  }
  return false;
}

}  // namespace

bool git_carving::covers(std::string_view tail) const {
  if (is_harness_state(tail)) return true;
  for (auto at = tail; !at.empty(); at = at.substr(0, at.rfind('/'))) {
    if (carved_.contains(std::string{at})) return true;
    if (!at.contains('/')) break;
  }
  return false;
}

void git_carving::pin(std::string_view tail) {
  if (covers(tail)) return;  // nothing in it can be renamed
  for (auto slash = tail.find('/');; slash = tail.find('/', slash + 1)) {
    const auto above = tail.substr(0, slash);
    if (!above.empty() && pinned_.emplace(above).second) {
      state_.pinned.push_back(ground_.path_of(above));
    }
    if (slash == tail.npos) return;
  }
}

git_step git_carving::carve(const std::string& tail, file_kind type) {
  if (covers(tail)) return {};
  if (auto left = ground_.budget.take_carve_out(ground_.path_of(tail)); !left) return left;
  if (const auto slash = tail.rfind('/'); slash != tail.npos) pin(tail.substr(0, slash));
  carved_.insert(tail);
  state_.carve_outs.push_back({.path = ground_.path_of(tail),
                               .kind = carve_kind::host_run,
                               .type = type,
                               .shell = carved_path::shown::visible});
  return {};
}

git_step git_carving::carve_door(int directory, std::string_view tail, const git_door& wanted,
                                 git_files mode) {
  const auto at = tail_of(tail, wanted.name);
  if (covers(at)) return {};
  auto found = kind_of(directory, wanted.name);
  if (!found && mode == git_files::complete) {
    if (!make(directory, wanted)) {
      return std::unexpected{unusable(ground_.path_of(at), std::strerror(errno))};
    }
    found = kind_of(directory, wanted.name);
    if (!found) return std::unexpected{unusable(ground_.path_of(at), "it vanished")};
  }
  if (!found && mode == git_files::as_found) return {};
  if (found && *found != wanted.type) {
    return std::unexpected{unusable(
        ground_.path_of(at), *found == file_kind::link ? "it is a symbolic link or a special file"
                                                       : "it is of the wrong kind")};
  }
  return carve(at, wanted.type);
}

}  // namespace pinfold
