// git has more doors than hooks and config. A new `commondir` makes git take hooks and config from
// elsewhere; `worktrees/X/commondir` does it for linked worktrees; `info/attributes` turns on
// filters. All are read-only inside.
#include "sandbox/git_state.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include <pinfold/disk/descriptor.hpp>

#include "sandbox/git_obeyed.hpp"

namespace pinfold {
namespace {

struct door {
  const char* name;
  file_kind type;
  std::string_view content;  ///< of a file that has to be made
};

constexpr std::array doors{
    door{"hooks", file_kind::directory, {}}, door{"config", file_kind::file, {}},
    door{"info", file_kind::directory, {}}, door{"worktrees", file_kind::directory, {}},
    door{"commondir", file_kind::file, ".\n"}};

refusal unusable(const std::string& path, std::string why) {
  return refusal{.error = code::carve_out_unusable,
                 .op = operation::execute,
                 .path = path,
                 .resolved = {},
                 .boundary = {},
                 .detail = std::move(why)};
}

std::optional<file_kind> kind_of(int parent, const char* name) {
  struct stat about {};
  if (::fstatat(parent, name, &about, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  if (S_ISDIR(about.st_mode)) return file_kind::directory;
  if (S_ISREG(about.st_mode)) return file_kind::file;
  return file_kind::link;  // a link or anything else that cannot be a carve-out
}

bool make(int parent, const door& wanted) {
  if (wanted.type == file_kind::directory) {
    return ::mkdirat(parent, wanted.name, 0777) == 0 || errno == EEXIST;
  }
  const descriptor file{
      ::openat(parent, wanted.name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666)};
  if (!file) return errno == EEXIST;
  return ::write(file.get(), wanted.content.data(), wanted.content.size()) ==
         static_cast<ssize_t>(wanted.content.size());
}

/// The door as a carve-out; nothing when it is absent and may not be made.
std::expected<std::optional<carved_path>, refusal> look_at(int git, const std::string& path,
                                                           const door& wanted, git_files mode) {
  auto found = kind_of(git, wanted.name);
  if (!found && mode == git_files::complete) {
    if (!make(git, wanted)) return std::unexpected{unusable(path, std::strerror(errno))};
    found = kind_of(git, wanted.name);
  }
  if (!found && mode == git_files::complete) return std::unexpected{unusable(path, "it vanished")};
  if (!found && mode == git_files::as_found) return std::nullopt;
  if (found && *found != wanted.type) {
    return std::unexpected{unusable(path, *found == file_kind::link
                                              ? "it is a symbolic link or a special file"
                                              : "it is of the wrong kind")};
  }
  return carved_path{.path = path,
                     .kind = carve_kind::host_run,
                     .type = wanted.type,
                     .shell = carved_path::shown::visible};
}

/// The text of `.git/config`, which is a regular file by now or not there.
std::expected<std::string, refusal> configuration_in(int git, const std::string& path) {
  constexpr std::size_t most = 1 << 20;
  const descriptor file{::openat(git, "config", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (!file) {
    if (errno == ENOENT) return std::string{};
    return std::unexpected{unusable(path, std::strerror(errno))};
  }
  std::string text;
  std::array<char, 4096> piece;
  for (ssize_t got = 1; got > 0 && text.size() <= most;) {
    got = ::read(file.get(), piece.data(), piece.size());
    if (got < 0) return std::unexpected{unusable(path, std::strerror(errno))};
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  if (text.size() > most) return std::unexpected{unusable(path, "it is larger than a mebibyte")};
  return text;
}

struct closer {
  void operator()(DIR* open) const noexcept { ::closedir(open); }
};

/// The gitdirs of submodules below `.git/modules`, relative to it; a submodule's name may hold
/// slashes. At most `most_submodules` + 1 of them.
std::vector<std::string> submodules_in(int modules) {
  std::vector<std::string> found;
  std::vector<std::string> pending{""};
  while (!pending.empty() && found.size() <= most_submodules) {
    const auto at = std::move(pending.back());
    pending.pop_back();
    const int fd = ::openat(modules, at.empty() ? "." : at.c_str(),
                            O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const std::unique_ptr<DIR, closer> list{fd < 0 ? nullptr : ::fdopendir(fd)};
    if (!list) continue;
    std::vector<std::string> directories;
    bool is_gitdir = false;
    while (const dirent* entry = ::readdir(list.get())) {
      const std::string_view name{entry->d_name};
      if (name == "." || name == "..") continue;
      is_gitdir |= name == "HEAD" || name == "config";
      if (kind_of(fd, entry->d_name) == file_kind::directory) {
        directories.push_back(at.empty() ? std::string{name} : at + "/" + std::string{name});
      }
    }
    if (is_gitdir) {
      found.push_back(at);
      // A submodule's own submodules.
      std::erase_if(directories, [](const auto& path) { return !path.ends_with("/modules"); });
    }
    std::ranges::move(directories, std::back_inserter(pending));
  }
  std::ranges::sort(found);
  return found;
}

/// `config` and `hooks` of each submodule, with every directory on the way pinned.
std::expected<void, refusal> add_submodules(git_state& state, int git, const std::string& path,
                                            git_files mode) {
  const descriptor modules{
      ::openat(git, "modules", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  if (!modules) {
    if (errno == ENOENT) return {};
    return std::unexpected{unusable(path, std::strerror(errno))};
  }
  const auto found = submodules_in(modules.get());
  if (found.size() > most_submodules) {
    state.carve_outs.push_back({.path = path,
                                .kind = carve_kind::host_run,
                                .type = file_kind::directory,
                                .shell = carved_path::shown::visible});
    return {};
  }
  if (found.empty()) return {};
  const auto pin = [&](const std::string& directory) {
    if (std::ranges::find(state.pinned, directory) == state.pinned.end()) {
      state.pinned.push_back(directory);
    }
  };
  pin(path);
  for (const auto& name : found) {
    for (auto slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
      pin(path + "/" + name.substr(0, slash));
    }
    pin(path + "/" + name);
    const descriptor gitdir{::openat(modules.get(), name.c_str(),
                                     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (!gitdir) return std::unexpected{unusable(path + "/" + name, std::strerror(errno))};
    for (const auto& wanted : std::span{doors}.first<2>()) {  // hooks and config
      auto seen =
          look_at(gitdir.get(), path + "/" + name + "/" + wanted.name, wanted, mode);
      if (!seen) return std::unexpected{std::move(seen.error())};
      if (*seen) state.carve_outs.push_back(std::move(**seen));
    }
  }
  return {};
}

}  // namespace

std::expected<git_state, refusal> look_at_git(const std::string& workspace, int directory,
                                              git_files mode,
                                              std::string_view global_hooks_path) {
  const auto path = workspace + "/.git";
  const auto kind = kind_of(directory, ".git");
  git_state state;
  if (!kind) return state;
  if (*kind == file_kind::link) {
    return std::unexpected{unusable(path, "it is a symbolic link or a special file")};
  }
  if (*kind == file_kind::file) {
    state.carve_outs.push_back({.path = path,
                                .kind = carve_kind::host_run,
                                .type = file_kind::file,
                                .shell = carved_path::shown::visible});
    return state;
  }
  const descriptor git{
      ::openat(directory, ".git", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  if (!git) return std::unexpected{unusable(path, std::strerror(errno))};
  state.pinned.push_back(path);
  for (const auto& wanted : doors) {
    auto found = look_at(git.get(), path + "/" + wanted.name, wanted, mode);
    if (!found) return std::unexpected{std::move(found.error())};
    if (*found) state.carve_outs.push_back(std::move(**found));
  }
  if (auto done = add_submodules(state, git.get(), path + "/modules", mode); !done) {
    return std::unexpected{std::move(done.error())};
  }
  auto configuration = configuration_in(git.get(), path + "/config");
  if (!configuration) return std::unexpected{std::move(configuration.error())};
  auto done = add_what_is_obeyed(state, workspace, *configuration, global_hooks_path);
  if (!done) return std::unexpected{std::move(done.error())};
  return state;
}

}  // namespace pinfold
