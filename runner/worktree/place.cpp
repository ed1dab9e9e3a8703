#include "worktree/place.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <iterator>
#include <thread>
#include <utility>

#include <pinfold/disk/resolve.hpp>
#include <pinfold/path.hpp>

#include "host/owned_way.hpp"
#include "worktree/tree.hpp"

namespace pinfold {
namespace {

std::string_view value_in(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string_view entry : environment) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return {};
}

constexpr bool is_letter_or_digit(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

std::string_view last_of(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

}  // namespace

refusal worktree_refusal(code error, operation op, std::string path, std::string why) {
  return {.error = error,
          .op = op,
          .path = std::move(path),
          .resolved = {},
          .boundary = {},
          .detail = std::move(why)};
}

std::expected<std::string, refusal> worktree_place_of(const std::vector<std::string>& environment) {
  std::string base{value_in(environment, "XDG_STATE_HOME")};
  if (!is_absolute(base)) {
    const auto home = value_in(environment, "HOME");
    if (!is_absolute(home)) {
      return std::unexpected{worktree_refusal(code::invalid_argument, operation::make_directory,
                                              "XDG_STATE_HOME",
                                              "neither it nor HOME is an absolute path, so there is "
                                              "no place for worktrees")};
    }
    base = std::string{home} + "/.local/state";
  }
  const grant everything{"/", {}};
  auto found = resolve_directory(everything, base + "/pinfold/worktrees");
  if (!found) return std::unexpected{std::move(found.error())};
  if (found->canonical.find('\n') == std::string::npos) return std::move(found->canonical);
  return std::unexpected{worktree_refusal(code::invalid_argument, operation::make_directory,
                                          std::move(found->canonical),
                                          "git has no way to note a path with a newline")};
}

bool is_worktree_name(std::string_view name) noexcept {
  constexpr std::size_t most = 64;
  const auto fits = [](char c) { return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; };
  return !name.empty() && name.size() <= most && is_letter_or_digit(name.front()) &&
         std::ranges::all_of(name, fits) && name.find("..") == name.npos && !name.ends_with('.') &&
         !name.ends_with(".lock");
}

std::string repository_folder_of(std::string_view common_dir) {
  auto named = common_dir;
  if (last_of(named) == ".git") named = parent_of(named);
  constexpr std::size_t most = 40;
  std::string folder;
  for (char c : last_of(named).substr(0, most)) folder += is_letter_or_digit(c) ? c : '_';
  std::uint64_t sum = 0xcbf29ce484222325;  // FNV-1a
  for (char c : common_dir) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  char digits[16];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), sum, 16).ptr;
  return folder.append("-").append(digits, end);
}

std::string tree_name_of(std::string_view top) {
  const auto name = last_of(top);
  return name.empty() || name == ".pinfold" ? "tree" : std::string{name};
}

std::expected<void, refusal> make_worktree_place(const std::string& place,
                                                 const std::string& folder) {
  for (const auto& path : {place, folder}) {
    const auto held = open_owned_way(path, missing_part::made);
    if (!held) return std::unexpected{held.error()};
    if (auto ours = check_private(held->get(), path); !ours) return ours;
  }
  return {};
}

std::expected<descriptor, int> lock_directory(const std::string& path) {
  descriptor held{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  if (!held) return std::unexpected{errno};
  // A process that another thread starts has every lock of this one for the moment before its exec.
  constexpr auto most_wait = std::chrono::milliseconds{100};
  const auto last_try = std::chrono::steady_clock::now() + most_wait;
  while (::flock(held.get(), LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    if (error == EINTR) continue;
    if (error != EWOULDBLOCK || std::chrono::steady_clock::now() > last_try) {
      return std::unexpected{error};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  return held;
}

void sweep_repository_folder(const std::string& folder) {
  constexpr std::time_t grown_up = 60;  // seconds: one that is just being made is not locked yet
  const descriptor held{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  if (!held) return;
  for (const auto& name : names_in(held.get())) {
    if (!name.starts_with(new_prefix) && !name.starts_with(gone_prefix)) continue;
    struct stat about {};
    if (::fstatat(held.get(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (std::time(nullptr) - about.st_mtime < grown_up) continue;
    const auto lock = lock_directory(folder + "/" + name);
    if (lock) (void)remove_tree(held.get(), name);
  }
}

}  // namespace pinfold
