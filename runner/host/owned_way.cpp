// Descriptors all the way: what was looked at is what the next step starts from.
#include "host/owned_way.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <pinfold/path.hpp>

namespace pinfold {
namespace {

constexpr mode_t writable_by_others = S_IWGRP | S_IWOTH;
constexpr mode_t anything_for_others = S_IRWXG | S_IRWXO;

refusal refused(const std::string& path, std::string why) {
  return refusal{.error = code::permission_denied,
                 .op = operation::execute,
                 .path = path,
                 .resolved = {},
                 .boundary = {},
                 .detail = std::move(why)};
}

/// Only the owner mends it, and only where being written to by others is not what it is for, as /tmp is.
std::string written_by_others(const struct stat& about) {
  const bool is_to_mend = about.st_uid == ::geteuid() && (about.st_mode & S_ISVTX) == 0;
  const std::string why = "other users may write to this directory";
  return is_to_mend ? why + " (chmod go-w)" : why;
}

std::expected<struct stat, refusal> look_at(int directory, const std::string& path) {
  struct stat about {};
  if (::fstat(directory, &about) == 0) return about;
  return std::unexpected{refused(path, std::strerror(errno))};
}

/// Nobody else may own it; others may write to it only where they cannot replace what is ours.
std::expected<void, refusal> check_way(int directory, const std::string& path) {
  const auto about = look_at(directory, path);
  if (!about) return std::unexpected{about.error()};
  if (about->st_uid != 0 && about->st_uid != ::geteuid()) {
    return std::unexpected{refused(path, "another user owns this directory")};
  }
  const bool is_sticky = (about->st_mode & S_ISVTX) != 0;
  if ((about->st_mode & writable_by_others) != 0 && !is_sticky) {
    return std::unexpected{refused(path, written_by_others(*about))};
  }
  return {};
}

int open_if_there(int parent, const std::string& name) {
  return ::openat(parent, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

}  // namespace

std::expected<descriptor, refusal> open_part(int parent, const std::string& name,
                                             const std::string& path, missing_part missing) {
  descriptor found{open_if_there(parent, name)};
  if (!found && errno == ENOENT) {
    if (missing == missing_part::left_out) return found;
    if (::mkdirat(parent, name.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
      return std::unexpected{
          refused(path, std::string{"it cannot be made: "} + std::strerror(errno))};
    }
    found.reset(open_if_there(parent, name));
  }
  if (found) return found;
  const bool is_odd = errno == ENOTDIR || errno == ELOOP;
  return std::unexpected{
      refused(path, is_odd ? "it is a link or no directory" : std::strerror(errno))};
}

std::expected<descriptor, refusal> open_owned_way(const std::string& path, missing_part missing) {
  descriptor at{::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!at) return std::unexpected{refused("/", std::strerror(errno))};
  std::string so_far{"/"};
  if (auto safe = check_way(at.get(), so_far); !safe) return std::unexpected{safe.error()};
  for (auto name : components{path}) {
    if (so_far.size() > 1) so_far += '/';
    so_far += name;
    auto next = open_part(at.get(), std::string{name}, so_far, missing);
    if (!next || !*next) return next;
    at = std::move(*next);
    if (auto safe = check_way(at.get(), so_far); !safe) return std::unexpected{safe.error()};
  }
  return at;
}

std::expected<void, refusal> check_private(int directory, const std::string& path) {
  const auto about = look_at(directory, path);
  if (!about) return std::unexpected{about.error()};
  if (about->st_uid == ::geteuid() && (about->st_mode & anything_for_others) == 0) return {};
  return std::unexpected{refused(path, "it must be yours alone (chmod 0700)")};
}

std::expected<void, refusal> check_owner(int directory, const std::string& path) {
  const auto about = look_at(directory, path);
  if (!about) return std::unexpected{about.error()};
  if (about->st_uid == ::geteuid()) return {};
  return std::unexpected{refused(path, "another user owns this directory")};
}

std::expected<void, refusal> check_unshared(int directory, const std::string& path) {
  if (auto ours = check_owner(directory, path); !ours) return ours;
  const auto about = look_at(directory, path);
  if (!about) return std::unexpected{about.error()};
  if ((about->st_mode & writable_by_others) == 0) return {};
  return std::unexpected{refused(path, written_by_others(*about))};
}

}  // namespace pinfold
