// The operations that change something: open for writing, replace, make, remove, rename. Each acts
// on a name in a directory that it reached from the workspace down; none destroys anything before
// what it is about to touch has been checked.
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <pinfold/disk/act.hpp>
#include <pinfold/disk/entry.hpp>
#include <pinfold/disk/reach.hpp>
#include <pinfold/disk/temporary.hpp>

namespace pinfold::beneath {

[[nodiscard]] constexpr int flags_for(const write_options& how) noexcept {
  int flags = O_WRONLY | never_wait;
  if (how.make != creation::never) flags |= O_CREAT;
  if (how.make == creation::exclusive) flags |= O_EXCL;
  if (how.existing == contents::append) flags |= O_APPEND;
  return flags;
}

/// The file under this name gets an inode of its own, with the same mode and (unless it is to be
/// emptied) the same content, and that is what is opened. The other names keep the old one.
[[nodiscard]] inline std::expected<descriptor, code> open_own_copy(const held_root& root,
                                                                   const resolved& place,
                                                                   const struct stat& shared,
                                                                   const write_options& how) {
  auto at = reach_parent(root, operation::write, place);
  if (!at) return std::unexpected{at.error()};
  auto copy = temporary_file::beside(at->directory);
  if (!copy) return std::unexpected{copy.error()};
  if (how.existing != contents::truncate) {
    const int from = open_name(at->directory, at->name.c_str(), O_RDONLY | never_wait);
    const descriptor source{from};
    struct stat status {};
    if (from < 0) return std::unexpected{code_of(-from)};
    if (::fstat(from, &status) != 0 || identity_of(status) != identity_of(shared)) {
      return std::unexpected{code::symlink_loop};
    }
    if (auto why = copy->append_all_of(from)) return std::unexpected{*why};
  }
  if (auto why = copy->take_mode_of(shared)) return std::unexpected{*why};
  return copy->put_at(at->name, how.existing == contents::append ? O_APPEND : 0);
}

/// True unless the name is gone. unlink(2) lowers the count of names before others stop seeing the name,
/// and holds the directory all the while: renaming a name to itself without replacing it asks under that
/// lock and changes nothing (Linux 3.15; where it is not there, looking has to do).
[[nodiscard]] inline bool is_still_named(int directory, const char* name) noexcept {
  return ::renameat2(directory, name, directory, name, RENAME_NOREPLACE) == 0 || errno != ENOENT;
}

/// What is wrong when a file that was opened at `place` and then counted one name has that name no
/// more: the name inside went in between, and the one that was counted is elsewhere.
/// `symlink_loop`: the tree is not as it was resolved.
[[nodiscard]] inline std::optional<code> lost_its_name(const held_root& root, const resolved& place,
                                                       const descriptor& opened) {
  const auto at = reach_parent(root, operation::write, place);
  if (!at) return at.error();
  if (!is_still_named(at->directory, at->name.c_str())) return code::symlink_loop;
  struct stat named {
  }, now{};
  if (::fstatat(at->directory, at->name.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT ? code::symlink_loop : code_of(errno);
  }
  if (::fstat(opened.get(), &now) != 0) return code_of(errno);
  const bool is_that = identity_of(named) == identity_of(now) && now.st_nlink == 1;
  return is_that ? std::nullopt : std::optional{code::symlink_loop};
}

[[nodiscard]] inline std::expected<descriptor, refusal> open_write(const held_root& root,
                                                                   std::string_view input,
                                                                   const write_options& how) {
  const disk::question asked{root.rules(), operation::write, input};
  return attempt(root, asked, [&](const resolved& place) -> std::expected<descriptor, code> {
    const auto mode = how.make == creation::never ? 0 : how.permissions & 0777u;
    auto opened =
        open_place(root, operation::write, place, {.flags = flags_for(how), .mode = mode});
    if (!opened) return opened;
    struct stat status {};
    if (::fstat(opened->get(), &status) != 0) return std::unexpected{code_of(errno)};
    if (auto why = not_a_file(status)) return std::unexpected{*why};
    if (status.st_nlink > 1) {
      if (how.shared == hard_links::refuse) return std::unexpected{code::hard_linked_file};
      return open_own_copy(root, place, status, how);
    }
    if (auto why = lost_its_name(root, place, *opened)) return std::unexpected{*why};
    if (how.existing == contents::truncate && status.st_size > 0 &&
        ::ftruncate(opened->get(), 0) != 0) {
      return std::unexpected{code_of(errno)};
    }
    return opened;
  });
}

/// What was there before a file was replaced.
enum class replaced : std::uint8_t { nothing, a_file };

/// True when two looks at one file found it unchanged: its content, or its name, may not have been
/// touched in between.
[[nodiscard]] inline bool is_unchanged(const struct stat& first, const struct stat& then) noexcept {
  return identity_of(first) == identity_of(then) && first.st_size == then.st_size &&
         first.st_mtim.tv_sec == then.st_mtim.tv_sec &&
         first.st_mtim.tv_nsec == then.st_mtim.tv_nsec;
}

/// Puts a new file in the place of the one at `place`, with its mode. With `only_if`, what is there
/// must still be what that look found (`symlink_loop` when not, so that the caller looks again);
/// what another program writes between this check and the rename is lost.
[[nodiscard]] inline std::expected<replaced, code> replace_at(const held_root& root,
                                                            const resolved& place,
                                                            std::string_view bytes,
                                                            const struct stat* only_if = nullptr) {
  auto at = reach_parent(root, operation::write, place);
  if (!at) return std::unexpected{at.error()};
  const auto look = [&](struct stat& status) -> std::expected<bool, code> {
    if (::fstatat(at->directory, at->name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) return true;
    if (errno == ENOENT) return false;
    return std::unexpected{code_of(errno)};
  };
  struct stat status {
  }, again{};
  const auto is_there = look(status);
  if (!is_there) return std::unexpected{is_there.error()};
  if (*is_there && S_ISLNK(status.st_mode)) return std::unexpected{code::symlink_loop};
  if (*is_there) {
    if (auto why = not_a_file(status)) return std::unexpected{*why};
  }
  auto fresh = temporary_file::beside(at->directory);
  if (!fresh) return std::unexpected{fresh.error()};
  if (auto why = fresh->append(bytes)) return std::unexpected{*why};
  if (*is_there) {
    if (auto why = fresh->take_mode_of(status)) return std::unexpected{*why};
  }
  if (auto why = fresh->flush()) return std::unexpected{*why};
  if (only_if != nullptr) {
    const auto is_still_there = look(again);
    if (!is_still_there) return std::unexpected{is_still_there.error()};
    if (!*is_still_there || !is_unchanged(*only_if, again)) {
      return std::unexpected{code::symlink_loop};
    }
  }
  auto done = fresh->put_at(at->name, 0);
  if (!done) return std::unexpected{done.error()};
  return *is_there ? replaced::a_file : replaced::nothing;
}

[[nodiscard]] inline std::expected<void, refusal> replace_file(const held_root& root,
                                                               std::string_view input,
                                                               std::string_view bytes) {
  const disk::question asked{root.rules(), operation::write, input};
  return attempt(root, asked, [&](const resolved& place) -> std::expected<void, code> {
    const auto done = replace_at(root, place, bytes);
    if (!done) return std::unexpected{done.error()};
    return {};
  });
}

/// Goes down to `place` name by name, making what is missing. Before the first one is made, what
/// lies on the way is checked against the carve-outs.
[[nodiscard]] inline std::expected<void, code> make_each(const held_root& root,
                                                         const resolved& place) {
  auto at = descend_from(root, place.canonical);
  if (!at) return std::unexpected{at.error()};
  const auto base = disk::names_of(disk::base_of(root.rules(), place.canonical)).size();
  bool is_checked = false;
  for (auto text : components{at->tail}) {
    const std::string name{text};
    int next = open_subdirectory(at->directory, name.c_str());
    if (next == -ENOENT &&
        at->on_the_way.size() >= base) {  // what holds a root is not ours to make
      if (!is_checked) {
        const auto why =
            forbidden_at(root, operation::make_directory, place.canonical, at->on_the_way);
        if (why) return std::unexpected{*why};
        is_checked = true;
      }
      if (::mkdirat(at->directory, name.c_str(), 0777) != 0 && errno != EEXIST) {
        return std::unexpected{code_of(errno)};
      }
      next = open_subdirectory(at->directory, name.c_str());
    }
    if (next < 0) return std::unexpected{code_of(-next)};
    if (auto why = at->enter(descriptor{next})) return std::unexpected{*why};
  }
  return {};
}

[[nodiscard]] inline std::expected<resolved, refusal> make_directories(const held_root& root,
                                                                       std::string_view input) {
  const disk::question asked{root.rules(), operation::make_directory, input};
  return attempt(root, asked, [&](const resolved& place) -> std::expected<resolved, code> {
    if (auto made = make_each(root, place); !made) return std::unexpected{made.error()};
    return place;
  });
}

/// Removes the name at `place`: anything but a directory that is not empty.
[[nodiscard]] inline std::expected<void, code> remove_at(const held_root& root,
                                                         const resolved& place) {
  const auto at = reach_parent(root, operation::remove, place);
  if (!at) return std::unexpected{at.error()};
  if (::unlinkat(at->directory, at->name.c_str(), 0) == 0) return {};
  if (errno != EISDIR && errno != EPERM) return std::unexpected{code_of(errno)};
  if (::unlinkat(at->directory, at->name.c_str(), AT_REMOVEDIR) == 0) return {};
  return std::unexpected{code_of(errno)};
}

[[nodiscard]] inline std::expected<void, refusal> remove(const held_root& root,
                                                         std::string_view input) {
  const disk::question asked{root.rules(), operation::remove, input};
  return attempt(root, asked, [&](const resolved& place) { return remove_at(root, place); });
}

/// The code for what renameat2 says: EXDEV between two file systems or mounts, EINVAL for a
/// directory moved into itself or an unknown flag.
[[nodiscard]] constexpr code rename_code_of(int error) noexcept {
  return error == EXDEV || error == EINVAL ? code::invalid_argument : code_of(error);
}

/// `permits` is asked about both canonical places before anything is renamed; where it says no, the
/// answer is `permission_denied`.
template <typename Permits>
[[nodiscard]] std::expected<void, refusal> rename_within(const held_root& root,
                                                         std::string_view from, std::string_view to,
                                                         overwrite existing,
                                                         const Permits& permits) {
  const disk::question asked{root.rules(), operation::rename, from};
  const disk::question asked_too{root.rules(), operation::rename, to};
  const unsigned flags = existing == overwrite::refused ? RENAME_NOREPLACE : 0;
  std::optional<refusal> about_target;
  auto done = attempt(root, asked, [&](const resolved& source) -> std::expected<void, code> {
    const auto here = reach_parent(root, operation::rename, source);
    if (!here) return std::unexpected{here.error()};
    auto moved = attempt(root, asked_too, [&](const resolved& target) -> std::expected<void, code> {
      const auto there = reach_parent(root, operation::rename, target);
      if (!there) return std::unexpected{there.error()};
      if (!permits(source, target)) return std::unexpected{code::permission_denied};
      if (::renameat2(here->directory, here->name.c_str(), there->directory, there->name.c_str(),
                      flags) == 0) {
        return {};
      }
      return std::unexpected{rename_code_of(errno)};
    });
    if (moved) return {};
    about_target = std::move(moved.error());
    return std::unexpected{code::invalid_argument};
  });
  if (!done && about_target) return std::unexpected{std::move(*about_target)};
  return done;
}

[[nodiscard]] inline std::expected<void, refusal> rename_within(const held_root& root,
                                                                std::string_view from,
                                                                std::string_view to,
                                                                overwrite existing) {
  const auto permits = [](const resolved&, const resolved&) { return true; };
  return rename_within(root, from, to, existing, permits);
}

}  // namespace pinfold::beneath
