// git has more doors than hooks and config. A new `commondir` makes git take hooks and config from
// elsewhere; `worktrees/X/commondir` does it for linked worktrees; `info/attributes` turns on
// filters. All are read-only inside.
#include "sandbox/git_state.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include <pinfold/disk/descriptor.hpp>

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

}  // namespace

std::expected<git_state, refusal> look_at_git(const std::string& workspace, int directory,
                                              git_files mode) {
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
  return state;
}

}  // namespace pinfold
