// A marked directory appears under its name in one rename, so a run killed at any moment leaves
// either nothing or something that the next one recognises by the mark or by the temporary name.
#include "sandbox/harness_state.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include <pinfold/disk/kernel.hpp>
#include <pinfold/grant.hpp>

namespace pinfold {
namespace {

constexpr const char* mark = "user.pinfold";
constexpr std::chrono::seconds most_wait{3};
constexpr std::string_view temporary_prefix = ".pinfold-new-";

refusal refused(const std::string& workspace, code error, std::string detail) {
  return refusal{.error = error,
                 .op = operation::execute,
                 .path = workspace,
                 .resolved = {},
                 .boundary = {},
                 .detail = std::move(detail)};
}

code code_for(int error) {
  if (error == ENOENT || error == ENOTDIR) return code::workspace_gone;
  if (error == EMFILE || error == ENFILE || error == ENOMEM) return code::resource_exhausted;
  return code::permission_denied;
}

bool is_marked(int parent, const char* name) {
  const descriptor fd{::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  return fd && ::fgetxattr(fd.get(), mark, nullptr, 0) >= 0;
}

/// Unlinking a directory that is not empty fails, so nothing that anyone put there is lost.
void remove_empty(int parent, const char* name) {
  ::unlinkat(parent, name, AT_REMOVEDIR);
}

/// Temporary names are only left by a run that was killed between two system calls.
void remove_temporary_names(int parent) {
  descriptor own{::openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!own) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> list{::fdopendir(own.get()), &::closedir};
  if (!list) return;
  (void)own.release();  // the list owns it now
  while (const dirent* entry = ::readdir(list.get())) {
    if (std::string_view{entry->d_name}.starts_with(temporary_prefix)) {
      remove_empty(parent, entry->d_name);
    }
  }
}

}  // namespace

std::expected<workspace_lock, refusal> workspace_lock::take(const std::string& workspace) {
  descriptor directory{::open(workspace.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  if (!directory) {
    const int error = errno;
    return std::unexpected{refused(workspace, code_for(error), std::strerror(error))};
  }
  // Whoever may read a directory may lock it, a command of another run too: nobody is waited for long.
  const auto last_try = std::chrono::steady_clock::now() + most_wait;
  while (::flock(directory.get(), LOCK_SH | LOCK_NB) != 0) {
    const bool may_wait = errno == EWOULDBLOCK && std::chrono::steady_clock::now() < last_try;
    if (errno == EINTR) continue;
    if (may_wait) {
      std::this_thread::sleep_for(std::chrono::milliseconds{2});
      continue;
    }
    return std::unexpected{refused(workspace, code::try_again,
                                   std::string{"locking the workspace: "} + std::strerror(errno))};
  }
  return workspace_lock{workspace, std::move(directory)};
}

workspace_lock::~workspace_lock() {
  if (!directory_) return;
  // A new open file: the sandbox may hold the old one still, and must then count as somebody else.
  descriptor again{::openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  directory_ = std::move(again);
  if (!directory_ || ::flock(directory_.get(), LOCK_EX | LOCK_NB) != 0) return;  // not the last one
  for (const auto& name : names_) {
    if (is_marked(directory_.get(), name.c_str())) remove_empty(directory_.get(), name.c_str());
  }
  remove_temporary_names(directory_.get());
}

refusal workspace_lock::unusable(std::string_view name, std::string why) const {
  return refused(workspace_ + "/" + std::string{name}, code::carve_out_unusable, std::move(why));
}

std::expected<void, refusal> workspace_lock::ensure(std::string_view name) {
  names_.emplace_back(name);
  constexpr int most_tries = 16;  // each lost race means that another run made it or took it away
  for (int i = 0; i < most_tries; ++i) {
    struct stat about {};
    if (::fstatat(directory(), names_.back().c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0) {
      if (S_ISDIR(about.st_mode)) return {};
      return std::unexpected{unusable(
          name, S_ISLNK(about.st_mode) ? "it is a symbolic link" : "it is not a directory")};
    }
    if (errno != ENOENT) return std::unexpected{unusable(name, std::strerror(errno))};
    if (auto made = make_marked(name); !made) return made;
  }
  return std::unexpected{unusable(name, "it comes and goes")};
}

std::expected<void, refusal> workspace_lock::make_marked(std::string_view name) {
  const auto temporary = std::string{temporary_prefix} + std::to_string(::getpid()) + "-" +
                         std::to_string(directory());
  remove_empty(directory(), temporary.c_str());
  if (::mkdirat(directory(), temporary.c_str(), 0700) != 0) {
    const bool unwritable = errno == EACCES || errno == EROFS || errno == EPERM;
    auto why = unusable(name, std::string{"it cannot be made: "} + std::strerror(errno));
    if (unwritable) why.error = code::workspace_not_writable;
    return std::unexpected{std::move(why)};
  }
  const descriptor fresh{
      ::openat(directory(), temporary.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  if (!fresh || ::fsetxattr(fresh.get(), mark, "1", 1, 0) != 0) {
    const int error = errno;
    remove_empty(directory(), temporary.c_str());
    return std::unexpected{unusable(name, std::string{"this file system keeps no mark on it ("} +
                                              std::strerror(error) +
                                              "); make the directory yourself")};
  }
  if (::renameat2(directory(), temporary.c_str(), directory(), std::string{name}.c_str(),
                  RENAME_NOREPLACE) != 0) {
    const int error = errno;
    remove_empty(directory(), temporary.c_str());
    if (error != EEXIST) return std::unexpected{unusable(name, std::strerror(error))};
  }
  return {};
}

namespace {

/// One directory of harness state: its linked files go to `found`, what leads on to `pending`. False
/// when the budget or the list is used up.
bool look_for_links(int workspace, const std::string& at, std::size_t& left, linked_state& found,
                    std::vector<std::string>& pending) {
  constexpr std::size_t most_named = 10;
  const int fd = beneath::open_below(beneath::lookup::openat2, workspace, at.c_str(),
                                     {.flags = O_RDONLY | O_DIRECTORY});
  const std::unique_ptr<DIR, int (*)(DIR*)> list{fd < 0 ? nullptr : ::fdopendir(fd), &::closedir};
  if (!list) {
    if (fd >= 0) ::close(fd);
    found.is_whole = found.is_whole && (fd == -ENOENT || fd == -ENOTDIR);
    return true;
  }
  while (const dirent* entry = ::readdir(list.get())) {
    const std::string_view name{entry->d_name};
    if (name == "." || name == "..") continue;
    if (left == 0) return false;
    --left;
    struct stat about {};
    const auto type = entry->d_type;
    if (type != DT_DIR && type != DT_REG && type != DT_UNKNOWN) continue;
    if (type != DT_DIR && ::fstatat(fd, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) continue;
    const auto path = at + "/" + std::string{name};
    if (type == DT_DIR || S_ISDIR(about.st_mode)) pending.push_back(path);
    if (!S_ISREG(about.st_mode) || about.st_nlink < 2) continue;
    found.files.push_back(path);
    if (found.files.size() == most_named) return false;
  }
  return true;
}

}  // namespace

linked_state hard_linked_state(int workspace, std::size_t most) {
  linked_state found;
  std::vector<std::string> pending;
  for (const auto& carve : default_carve_outs) {
    if (carve.kind == carve_kind::harness_state) pending.emplace_back(carve.path);
  }
  while (!pending.empty()) {
    const auto at = std::move(pending.back());
    pending.pop_back();
    if (!look_for_links(workspace, at, most, found, pending)) {
      found.is_whole = false;
      break;
    }
  }
  return found;
}

}  // namespace pinfold
