// From a resolved place to a descriptor: opened from the workspace down, through no link, and
// checked against the carve-outs by what was really opened. Nothing here trusts that the tree is
// still as the resolver saw it.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinfold/disk/beneath.hpp>
#include <pinfold/disk/carved.hpp>
#include <pinfold/disk/held_root.hpp>
#include <pinfold/disk/kernel.hpp>
#include <pinfold/disk/location.hpp>
#include <pinfold/disk/straight.hpp>

namespace pinfold::beneath {

/// A directory that was reached, and the last name of the place in it ("." for the workspace
/// itself).
struct spot {
  descriptor held;  // none when the directory is the workspace itself
  int directory{-1};
  std::string name;
  std::vector<identity> on_the_way;  // of the place's components but the last; empty when the
                                     // spelling decided
};

/// A way down: the directory it stands in, what it has passed, and the names still to go.
struct way_down {
  descriptor held;
  int directory{-1};
  std::string_view tail;
  std::vector<identity> on_the_way;

  /// Stands in `next` from now on.
  [[nodiscard]] std::optional<code> enter(descriptor next) {
    struct stat status {};
    if (::fstat(next.get(), &status) != 0) return code_of(errno);
    on_the_way.push_back(identity_of(status));
    held = std::move(next);
    directory = held.get();
    return std::nullopt;
  }
};

/// The code with which an operation is refused at `place`, by the identities on the way to it.
[[nodiscard]] inline std::optional<code> forbidden_at(const held_root& root, operation op,
                                                      const std::string& place,
                                                      std::span<const identity> on_the_way) {
  const auto inside = carved_at(root, place, on_the_way);
  if (!inside) return std::nullopt;
  if (inside->carve.kind == carve_kind::harness_state) return code::harness_state;
  if (disk::changes_something(op)) return code::host_run_file;
  return std::nullopt;
}

/// The tail of a place that its spelling decides about; nothing when it has to be reached with
/// care.
[[nodiscard]] inline std::optional<std::string_view> plain_tail(const held_root& root, operation op,
                                                                const resolved& place) {
  const auto tail = tail_below(root.path(), place.canonical);
  if (!tail || !root.is_judged_by_name() || !is_allowed_by_name(root, op, *tail)) {
    return std::nullopt;
  }
  return tail;
}

/// The way down to `place`, not gone yet: from the workspace, or from "/" for an extra root.
[[nodiscard]] inline std::expected<way_down, code> descend_from(const held_root& root,
                                                                std::string_view place) {
  way_down way;
  if (const auto tail = tail_below(root.path(), place)) {
    way.directory = root.fd();
    way.tail = *tail;
    way.on_the_way.assign(disk::names_of(root.path()).size(), {});
    if (!way.on_the_way.empty()) way.on_the_way.back() = root.id();
    return way;
  }
  way.held = descriptor{::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!way.held.is_open()) return std::unexpected{code_of(errno)};
  way.directory = way.held.get();
  way.tail = place.substr(1);
  return way;
}

/// Goes down to the last name of `place`, never through a link, noting what it passes.
[[nodiscard]] inline std::expected<spot, code> descend(const held_root& root,
                                                       const std::string& place) {
  auto way = descend_from(root, place);
  if (!way) return std::unexpected{way.error()};
  std::string name = ".";
  for (auto next_name : components{way->tail}) {
    if (name != ".") {
      const int next = open_subdirectory(way->directory, name.c_str());
      if (next < 0) return std::unexpected{code_of(-next)};
      if (auto why = way->enter(descriptor{next})) return std::unexpected{*why};
    }
    name = next_name;
  }
  return spot{std::move(way->held), way->directory, std::move(name), std::move(way->on_the_way)};
}

/// The directory that holds `place`, for an operation on the place's name.
[[nodiscard]] inline std::expected<spot, code> reach_parent(const held_root& root, operation op,
                                                            const resolved& place) {
  if (const auto tail = plain_tail(root, op, place)) {
    const auto slash = tail->rfind('/');
    if (slash == std::string_view::npos) {
      return spot{{}, root.fd(), tail->empty() ? "." : std::string{*tail}, {}};
    }
    const std::string above{tail->substr(0, slash)};
    const int fd =
        open_below(root.names(), root.fd(), above.c_str(), {.flags = O_PATH | O_DIRECTORY});
    if (fd >= 0) return spot{descriptor{fd}, fd, std::string{tail->substr(slash + 1)}, {}};
    if (fd != -EXDEV && fd != -ENOSYS && fd != -EPERM) return std::unexpected{code_of(-fd)};
  }
  auto at = descend(root, place.canonical);
  if (!at) return at;
  auto ids = at->on_the_way;
  struct stat status {};
  if (at->name != "." &&
      ::fstatat(at->directory, at->name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
    ids.push_back(identity_of(status));
  }
  if (auto why = forbidden_at(root, op, place.canonical, ids)) return std::unexpected{*why};
  return at;
}

/// Opens the last name of a spot reached with care: first without touching it, to compare its
/// identity, then for real; both must be the same object.
[[nodiscard]] inline std::expected<descriptor, code> open_with_care(const held_root& root,
                                                                    operation op,
                                                                    const resolved& place,
                                                                    const opening& how) {
  auto at = descend(root, place.canonical);
  if (!at) return std::unexpected{at.error()};
  auto ids = at->on_the_way;
  struct stat before {
  }, after{};
  const int seen = open_name(at->directory, at->name.c_str(), O_PATH);
  const descriptor first{seen};
  auto flags = how.flags;
  if (seen >= 0) {
    if (::fstat(seen, &before) != 0) return std::unexpected{code_of(errno)};
    if (S_ISLNK(before.st_mode)) return std::unexpected{code::symlink_loop};
    if (at->name != ".") ids.push_back(identity_of(before));
    if ((flags & O_EXCL) != 0) return std::unexpected{code::already_exists};
    flags &= ~O_CREAT;
  } else if (seen != -ENOENT || (flags & O_CREAT) == 0) {
    return std::unexpected{code_of(-seen)};
  } else {
    flags |= O_EXCL;
  }
  if (auto why = forbidden_at(root, op, place.canonical, ids)) return std::unexpected{*why};
  const int fd = open_name(at->directory, at->name.c_str(), flags, how.mode);
  if (fd < 0) {
    // Made, or replaced by a link, in between: the caller looks again.
    const bool is_new = seen < 0 ? fd == -EEXIST : S_ISDIR(before.st_mode) && fd == -ENOTDIR;
    return std::unexpected{is_new ? code::symlink_loop : code_of(-fd)};
  }
  descriptor opened{fd};
  if (seen < 0) return opened;
  if (::fstat(fd, &after) != 0) return std::unexpected{code_of(errno)};
  if (identity_of(after) != identity_of(before)) return std::unexpected{code::symlink_loop};
  return opened;
}

/// Opens a resolved place. `how.flags` must not hold O_TRUNC: nothing may be destroyed before what
/// was opened is known. `symlink_loop` means that the tree is not as it was resolved.
[[nodiscard]] inline std::expected<descriptor, code> open_place(const held_root& root, operation op,
                                                                const resolved& place,
                                                                const opening& how) {
  if (const auto tail = plain_tail(root, op, place)) {
    const std::string text{tail->empty() ? std::string_view{"."} : *tail};
    const int fd = open_below(root.names(), root.fd(), text.c_str(), how);
    if (fd >= 0) return descriptor{fd};
    if (fd != -EXDEV && fd != -ENOSYS && fd != -EPERM) return std::unexpected{code_of(-fd)};
  }
  return open_with_care(root, op, place, how);
}

}  // namespace pinfold::beneath
