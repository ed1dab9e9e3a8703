// What a path below an open directory names, by its identity.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include <pinfold/disk/descriptor.hpp>

namespace pinfold {

/// What the relative `tail` names; empty: the directory itself. No link on the way is followed and the
/// last name is looked at as it is: a link that somebody puts there at this moment would make a proof
/// agree with the wrong object. Returns 0 or an errno (ENOTDIR or ELOOP for a link on the way).
[[nodiscard]] inline int look_below(int directory, std::string_view tail, struct stat& about) {
  if (tail.empty()) return ::fstat(directory, &about) == 0 ? 0 : errno;
  descriptor held;
  int at = directory;
  for (auto slash = tail.find('/'); slash != tail.npos; slash = tail.find('/')) {
    const std::string name{tail.substr(0, slash)};
    descriptor next{::openat(at, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (!next) return errno;
    held = std::move(next);
    at = held.get();
    tail.remove_prefix(slash + 1);
  }
  return ::fstatat(at, std::string{tail}.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : errno;
}

}  // namespace pinfold
