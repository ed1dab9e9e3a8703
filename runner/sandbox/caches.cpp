// A workspace's own caches lie in a directory that is never mounted itself, only its children are:
// what runs inside cannot replace a name that the next run is bound from.
#include "sandbox/caches.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <utility>

#include <pinfold/disk/resolve.hpp>
#include <pinfold/path.hpp>

#include "sandbox/places.hpp"

namespace pinfold {
namespace {

bool overlap(std::string_view a, std::string_view b) {
  return contains(a, b) || contains(b, a);
}

refusal refused(const std::string& path, std::string resolved, std::string boundary,
                std::string why) {
  return refusal{.error = code::invalid_argument,
                 .op = operation::execute,
                 .path = path,
                 .resolved = std::move(resolved),
                 .boundary = std::move(boundary),
                 .detail = std::move(why)};
}

std::optional<std::string> canonical(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> found{::realpath(path.c_str(), nullptr),
                                                          &std::free};
  if (!found) return std::nullopt;
  return std::string{found.get()};
}

void append_hexadecimal(std::string& to, std::uint64_t value) {
  char digits[16];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value, 16).ptr;
  to.append(digits, end);
}

/// A file system by its own name where it has one (statfs(2), f_fsid), which stays from boot to
/// boot; by its device otherwise.
std::optional<std::uint64_t> file_system_of(int directory, const struct statx& about) {
  struct statfs where {};
  if (::fstatfs(directory, &where) != 0) return std::nullopt;
  const auto high = static_cast<std::uint32_t>(where.f_fsid.__val[0]);
  const auto low = static_cast<std::uint32_t>(where.f_fsid.__val[1]);
  const auto own = (std::uint64_t{high} << 32) | low;
  return own != 0 ? own : ::makedev(about.stx_dev_major, about.stx_dev_minor);
}

/// Records which directory was seen, so that stage two can tell another one.
std::expected<void, refusal> remember(cache_place& place, int directory) {
  struct stat about {};
  if (::fstat(directory, &about) != 0) {
    return std::unexpected{refused(place.source, {}, {}, "it vanished")};
  }
  place.device = about.st_dev;
  place.inode = about.st_ino;
  return {};
}

/// One of a workspace's own caches, each component of its name below the workspace's directory. Its
/// mode is the command's to change; the directory above is closed to everybody else.
std::expected<void, refusal> find_own(cache_place& place, int below, std::string_view tail,
                                      std::string path, missing_part missing) {
  descriptor at;
  for (auto name : components{tail}) {
    path.append("/").append(name);
    auto next = open_part(at ? at.get() : below, std::string{name}, path, missing);
    if (!next) return std::unexpected{std::move(next.error())};
    if (!*next) return {};
    at = std::move(*next);
    if (auto ours = check_owner(at.get(), path); !ours) return ours;
  }
  return remember(place, at.get());
}

/// What is never shared, as it is spelled and where it leads.
std::string never_shared_at(const std::string& place, const caller& who) {
  for (const auto& home : who.homes) {
    for (auto entry : never_shared) {
      const auto spelled = below_home(entry, home);
      if (overlap(spelled, place)) return spelled;
      if (const auto led = canonical(spelled); led && overlap(*led, place)) return spelled;
    }
  }
  return {};
}

/// One of the user's caches; nothing when it is not there.
std::expected<std::optional<cache_place>, refusal> find_users(
    const shared_cache& part, const caller& who, const std::vector<hidden_path>& hidden) {
  const auto spelled = below_home(part.path, who.home);
  if (!canonical(spelled)) return std::nullopt;
  auto shown = read_root(spelled, who, hidden);
  if (!shown) return std::unexpected{std::move(shown.error())};
  if (auto never = never_shared_at(shown->source, who); !never.empty()) {
    return std::unexpected{refused(spelled, shown->source, std::move(never), "it is never shared")};
  }
  auto held = open_owned_way(shown->source, missing_part::left_out);
  if (!held) return std::unexpected{std::move(held.error())};
  if (!*held) return std::nullopt;
  if (auto ours = check_unshared(held->get(), shown->source); !ours) {
    return std::unexpected{std::move(ours.error())};
  }
  cache_place place{.source = std::move(shown->source),
                    .target = {},
                    .owner = cache_owner::user,
                    .listed = part.access};
  if (auto known = remember(place, held->get()); !known) {
    return std::unexpected{std::move(known.error())};
  }
  return place;
}

}  // namespace

std::expected<std::optional<std::string>, refusal> cache_root_of(const caller& who) {
  const auto asked = who.environment.find("XDG_CACHE_HOME");
  std::string base;
  if (asked && is_absolute(*asked)) {
    base = *asked;
  } else if (!who.home.empty()) {
    base = who.home + "/.cache";
  } else {
    return std::nullopt;
  }
  const grant everything{"/", {}};
  auto found = resolve_directory(everything, base + "/pinfold");
  if (!found) {
    found.error().op = operation::execute;
    return std::unexpected{std::move(found.error())};
  }
  return std::move(found->canonical);
}

namespace {

/// What the file system adds to an inode's number so that a later inode of the same number is told
/// apart, where it says (name_to_handle_at(2)): times of birth come in ticks of milliseconds.
std::uint64_t generation_of(int directory) {
  constexpr std::size_t most = MAX_HANDLE_SZ;
  alignas(file_handle) std::array<unsigned char, sizeof(file_handle) + most> buffer{};
  auto* const handle = reinterpret_cast<file_handle*>(buffer.data());
  handle->handle_bytes = most;
  int mount = 0;
  if (::name_to_handle_at(directory, "", handle, &mount, AT_EMPTY_PATH) != 0) return 0;
  std::uint64_t sum = 0xcbf29ce484222325;  // FNV-1a
  for (std::size_t i = 0; i < handle->handle_bytes; ++i) {
    sum = (sum ^ buffer[sizeof(file_handle) + i]) * 0x100000001b3;
  }
  return sum;
}

}  // namespace

std::optional<std::string> cache_name_of(int directory) {
  struct statx about {};
  if (::statx(directory, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &about) != 0) {
    return std::nullopt;
  }
  const auto file_system = file_system_of(directory, about);
  constexpr auto needed = STATX_INO | STATX_BTIME;
  if (!file_system || (about.stx_mask & needed) != needed) return std::nullopt;
  std::string name;
  append_hexadecimal(name, *file_system);
  append_hexadecimal(name += '-', about.stx_ino);
  append_hexadecimal(name += '-', static_cast<std::uint64_t>(about.stx_btime.tv_sec));
  append_hexadecimal(name += '-', about.stx_btime.tv_nsec);
  append_hexadecimal(name += '-', generation_of(directory));
  return name;
}

std::expected<std::vector<cache_place>, refusal> own_caches(const std::string& root,
                                                            const std::string& name,
                                                            std::string_view home,
                                                            missing_part missing) {
  std::vector<cache_place> places;
  const auto folder = root + "/" + name;
  for (auto entry : kept_caches) {
    places.push_back({.source = below_home(entry, folder), .target = below_home(entry, home)});
  }
  auto held = open_owned_way(root, missing);
  if (!held) return std::unexpected{std::move(held.error())};
  if (!*held) return places;
  if (auto ours = check_private(held->get(), root); !ours) {
    return std::unexpected{std::move(ours.error())};
  }
  auto own = open_part(held->get(), name, folder, missing);
  if (!own) return std::unexpected{std::move(own.error())};
  if (!*own) return places;
  if (auto ours = check_private(own->get(), folder); !ours) {
    return std::unexpected{std::move(ours.error())};
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto tail = kept_caches[i].substr(2);
    if (auto found = find_own(places[i], own->get(), tail, folder, missing); !found) {
      return std::unexpected{std::move(found.error())};
    }
  }
  return places;
}

std::expected<std::vector<cache_place>, refusal> users_caches(
    const caller& who, const std::vector<hidden_path>& hidden, std::string_view home) {
  std::vector<cache_place> places;
  if (who.home.empty()) return places;
  for (const auto& part : shared_caches_on_linux) {
    auto found = find_users(part, who, hidden);
    if (!found) return std::unexpected{std::move(found.error())};
    if (!*found) continue;
    for (const auto& other : places) {
      if (!overlap(other.source, (*found)->source)) continue;
      return std::unexpected{refused(below_home(part.path, who.home), (*found)->source,
                                     other.source, "two shared caches are one")};
    }
    (*found)->target = below_home(part.path, home);
    places.push_back(std::move(**found));
  }
  return places;
}

std::expected<void, refusal> check_apart(const std::string& place,
                                         const std::vector<cache_place>& caches) {
  for (const auto& cache : caches) {
    for (const auto& side : {cache.source, cache.target}) {
      if (overlap(place, side)) {
        return std::unexpected{refused(place, {}, side, "a cache lies there")};
      }
    }
  }
  return {};
}

}  // namespace pinfold
