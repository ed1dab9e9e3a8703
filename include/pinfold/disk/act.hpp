// The operations that change nothing: open for reading, list, look. Each resolves, opens from the
// workspace down and checks what it opened.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinfold/disk/beneath.hpp>
#include <pinfold/disk/entry.hpp>
#include <pinfold/disk/reach.hpp>
#include <pinfold/guard.hpp>

namespace pinfold::beneath {

/// Opening waits for nothing (a FIFO, a serial line) and never takes a terminal.
inline constexpr int never_wait = O_NONBLOCK | O_NOCTTY;

/// How often an operation looks again when the tree is not as it was resolved.
inline constexpr int most_looks = 8;

/// True for what an act says when a name was replaced between resolving and acting.
[[nodiscard]] constexpr bool may_be_a_race(code value) noexcept {
  return value == code::symlink_loop || value == code::not_found ||
         value == code::not_a_directory || value == code::is_a_directory;
}

/// The refusal for an error met at a resolved place. A place that turned out to be taken out of the
/// grant is named only as it was asked for.
[[nodiscard]] inline refusal refused_at(const disk::question& asked, code why,
                                        const resolved& place) {
  auto said = disk::refused(asked, why, place.canonical);
  if (why == code::harness_state || why == code::host_run_file) {
    said.resolved.clear();
    said.boundary = asked.rules.workspace();
  }
  return said;
}

/// Resolves the question and acts on the answer. An error that a change of the tree may have caused
/// is believed when a second look at the same place meets it again.
template <typename Act>
[[nodiscard]] auto attempt(const held_root& root, const disk::question& asked, Act&& act)
    -> std::expected<typename std::invoke_result_t<Act, const resolved&>::value_type, refusal> {
  std::optional<std::pair<std::string, code>> before;
  for (int looks = 0; looks < most_looks; ++looks) {
    auto place = resolve(root, asked.op, asked.input, root.path());
    if (!place) return std::unexpected{std::move(place.error())};
    auto done = act(*place);
    if (done) {
      if constexpr (std::is_void_v<typename decltype(done)::value_type>) {
        return {};
      } else {
        return std::move(*done);
      }
    }
    const bool is_settled =
        done.error() != code::symlink_loop && before == std::pair{place->canonical, done.error()};
    if (may_be_a_race(done.error()) && !root.is_in_place()) {
      return std::unexpected{disk::refused(asked, code::workspace_gone)};
    }
    if (!may_be_a_race(done.error()) || is_settled) {
      return std::unexpected{refused_at(asked, done.error(), *place)};
    }
    before.emplace(std::move(place->canonical), done.error());
  }
  return std::unexpected{disk::refused(asked, code::try_again)};
}

[[nodiscard]] inline file_type type_of(mode_t mode) noexcept {
  if (S_ISREG(mode)) return file_type::file;
  if (S_ISDIR(mode)) return file_type::directory;
  return S_ISLNK(mode) ? file_type::link : file_type::special;
}

/// What is wrong with an opened file that should be a regular one, if anything.
[[nodiscard]] inline std::optional<code> not_a_file(const struct stat& status) noexcept {
  if (S_ISREG(status.st_mode)) return std::nullopt;
  return S_ISDIR(status.st_mode) ? code::is_a_directory : code::special_file;
}

/// True when the straight way may open a tail that is not in normal form; as `may_read_straight`.
template <typename Permits>
[[nodiscard, gnu::noinline]] bool may_read_once_normal(const held_root& root, std::string_view tail,
                                                       const Permits& permits) {
  char buffer[path_max];
  const auto normal = normal_tail(tail, buffer);
  if (!normal || !is_allowed_by_name(root, operation::read, *normal)) return false;
  return permits(tail_text{root.path(), root.path(), normal->empty() ? "." : *normal}.whole());
}

/// True when the straight way may open `tail` for reading: by its spelling, and by what `permits`
/// says of its canonical path.
template <typename Permits>
[[nodiscard]] bool may_read_straight(const held_root& root, const tail_text& tail,
                                     const Permits& permits) {
  if (!is_normal_tail(tail.text())) return may_read_once_normal(root, tail.text(), permits);
  return is_allowed_by_name(root, operation::read, tail.text()) && permits(tail.whole());
}

/// The straight way of `open_read`: one openat2 and a look at what it opened. Nothing where the
/// careful one must answer. Inline always: a return that follows a system call is mispredicted.
template <typename Permits>
[[nodiscard, gnu::always_inline]] inline std::optional<descriptor> open_read_straight(
    const held_root& root, std::string_view input, const Permits& permits) {
  if (root.error() || !root.is_judged_by_name()) return std::nullopt;
  tail_text tail{root.path(), root.path(), input};
  if (tail.text().empty() || !may_read_straight(root, tail, permits)) return std::nullopt;
  descriptor opened{
      open_below(root.names(), root.fd(), tail.bytes(), {.flags = O_RDONLY | never_wait})};
  if (!opened.is_open() || !root.is_regular(opened.get())) return std::nullopt;
  return opened;
}

/// What `seen`, opened with O_PATH or for reading, is instead of a regular file, if anything.
[[nodiscard]] inline std::optional<code> not_a_file(const descriptor& seen) noexcept {
  struct stat status {};
  if (::fstat(seen.get(), &status) != 0) return code_of(errno);
  return not_a_file(status);
}

/// The careful way of `open_read`: looks before it opens, because opening a FIFO lets a waiting
/// writer go and opening a device may set something off; and again at what it opened.
[[nodiscard]] inline std::expected<descriptor, code> open_read_at(const held_root& root,
                                                                  const resolved& place) {
  const auto seen = open_place(root, operation::read, place, {});
  if (!seen) return std::unexpected{seen.error()};
  if (auto why = not_a_file(*seen)) return std::unexpected{*why};
  auto opened = open_place(root, operation::read, place, {.flags = O_RDONLY | never_wait});
  if (!opened) return opened;
  if (auto why = not_a_file(*opened)) return std::unexpected{*why};
  return opened;
}

[[nodiscard]] inline std::expected<descriptor, refusal> open_read(const held_root& root,
                                                                  std::string_view input) {
  const auto permits = [](std::string_view) { return true; };
  if (auto opened = open_read_straight(root, input, permits)) return std::move(*opened);
  const disk::question asked{root.rules(), operation::read, input};
  return attempt(root, asked, [&](const resolved& place) { return open_read_at(root, place); });
}

/// The same for a call that `now` has to allow: it is asked about the canonical path, before
/// anything is opened. Its refusal, or what it would ask a person, is the answer.
[[nodiscard]] inline std::expected<descriptor, refusal> open_read(const held_root& root,
                                                                  std::string_view input,
                                                                  const guard& now) {
  const auto permits = [&](std::string_view canonical) {
    return now.check(call::read(canonical)) == verdict::allow;
  };
  if (auto opened = open_read_straight(root, input, permits)) return std::move(*opened);
  const disk::question asked{root.rules(), operation::read, input};
  std::optional<refusal> said;
  auto done = attempt(root, asked, [&](const resolved& place) -> std::expected<descriptor, code> {
    const auto about = call::read(place.canonical);
    const auto answer = now.check(about);
    if (answer == verdict::allow) return open_read_at(root, place);
    said = answer.to_refusal(input);
    return std::unexpected{code::permission_denied};
  });
  if (!done && said) return std::unexpected{std::move(*said)};
  return done;
}

[[nodiscard]] inline std::expected<file_facts, refusal> stat_of(const held_root& root,
                                                                std::string_view input) {
  const disk::question asked{root.rules(), operation::read, input};
  return attempt(root, asked, [&](const resolved& place) -> std::expected<file_facts, code> {
    const auto opened = open_place(root, operation::read, place, {});
    if (!opened) return std::unexpected{opened.error()};
    struct stat status {};
    if (::fstat(opened->get(), &status) != 0) return std::unexpected{code_of(errno)};
    return file_facts{place.canonical,
                      type_of(status.st_mode),
                      static_cast<std::uint64_t>(status.st_size),
                      status.st_mode & 0777u,
                      status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec,
                      static_cast<std::uint64_t>(status.st_nlink)};
  });
}

/// The type of one name; asked of the file when the directory does not tell (readdir(3)).
[[nodiscard]] inline file_type entry_type(int directory, const dirent& entry) noexcept {
  switch (entry.d_type) {
    case DT_REG: return file_type::file;
    case DT_DIR: return file_type::directory;
    case DT_LNK: return file_type::link;
    case DT_UNKNOWN: break;
    default: return file_type::special;
  }
  struct stat status {};
  if (::fstatat(directory, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return file_type::special;
  }
  return type_of(status.st_mode);
}

[[nodiscard]] inline std::expected<std::vector<directory_entry>, code> entries_of(
    descriptor directory) {
  struct closer {
    void operator()(DIR* open) const noexcept { ::closedir(open); }
  };
  const std::unique_ptr<DIR, closer> open{::fdopendir(directory.get())};
  if (!open) return std::unexpected{code_of(errno)};
  const int fd = directory.release();  // closed with `open`
  std::vector<directory_entry> names;
  for (;;) {
    errno = 0;
    const auto* entry = ::readdir(open.get());
    if (entry == nullptr) break;
    const std::string_view name{entry->d_name};
    if (name == "." || name == "..") continue;
    names.push_back({std::string{name}, entry_type(fd, *entry)});
  }
  if (errno != 0) return std::unexpected{code_of(errno)};
  return names;
}

[[nodiscard]] inline std::expected<std::vector<directory_entry>, refusal> list_directory(
    const held_root& root, std::string_view input) {
  const disk::question asked{root.rules(), operation::list, input};
  return attempt(root, asked,
                 [&](const resolved& place) -> std::expected<std::vector<directory_entry>, code> {
                   auto opened = open_place(root, operation::list, place,
                                            {.flags = O_RDONLY | O_DIRECTORY | never_wait});
                   if (!opened) return std::unexpected{opened.error()};
                   return entries_of(std::move(*opened));
                 });
}

}  // namespace pinfold::beneath
