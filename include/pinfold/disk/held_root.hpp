// The workspace's directory, held by a descriptor, with what has to be known about it before a path
// may be judged by its spelling alone. It resolves nothing itself.
#pragma once

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <pinfold/disk/kernel.hpp>
#include <pinfold/disk/location.hpp>

namespace pinfold::beneath {

/// Whether a directory takes two spellings for one name.
enum class naming : std::uint8_t { exact, folding };

// Not in linux/magic.h.
inline constexpr unsigned long bcachefs_magic = 0xca451a4e;
inline constexpr unsigned long xfs_magic = 0x58465342;
inline constexpr unsigned long zfs_magic = 0x2fc12fc1;

/// For a file system that folds as a whole or not at all: the directory's own name (the last of
/// `path`) is looked up beside it with the case of its letters turned. What cannot be tried so
/// counts as folding.
[[nodiscard]] inline naming naming_tried(int fd, std::string_view path) {
  std::string turned{path.substr(path.rfind('/') + 1)};
  for (char& c : turned) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) c = static_cast<char>(c ^ 0x20);
  }
  if (path.ends_with(turned)) return naming::folding;
  struct stat self {}, parent {}, other {};
  const descriptor above{::openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (::fstat(fd, &self) != 0 || ::fstat(above.get(), &parent) != 0 ||
      self.st_dev != parent.st_dev) {
    return naming::folding;
  }
  if (::fstatat(above.get(), turned.c_str(), &other, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT ? naming::exact : naming::folding;
  }
  return identity_of(other) == identity_of(self) ? naming::folding : naming::exact;
}

/// Whether the directory `fd` (open for reading, called `path`) folds case: by the flag of ext4,
/// f2fs, tmpfs, bcachefs and overlayfs (FS_CASEFOLD_FL, ioctl_iflags(2)), by trying for XFS (its
/// ascii-ci option), ZFS and NFS. btrfs and ramfs never do. Any other file system counts as folding.
[[nodiscard]] inline naming naming_of(int fd, std::string_view path) {
  struct statfs kind {};
  if (::fstatfs(fd, &kind) != 0) return naming::folding;
  switch (static_cast<unsigned long>(kind.f_type)) {
    case BTRFS_SUPER_MAGIC:
    case RAMFS_MAGIC: return naming::exact;
    case xfs_magic:
    case zfs_magic:
    case NFS_SUPER_MAGIC: return naming_tried(fd, path);
    case EXT4_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
    case TMPFS_MAGIC:
    case OVERLAYFS_SUPER_MAGIC:
    case bcachefs_magic: break;
    default: return naming::folding;
  }
  int flags = 0;
  if (::ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) {
    // ENOTTY: a file system without such flags has no folding directory.
    return errno == ENOTTY || errno == EOPNOTSUPP ? naming::exact : naming::folding;
  }
  return (flags & FS_CASEFOLD_FL) != 0 ? naming::folding : naming::exact;
}

/// The workspace, held. The grant's texts must outlive it. All of it may be used from several
/// threads at once.
class held_root {
 public:
  /// Opens the grant's workspace, which must be a directory and not a link. `error()` says what went
  /// wrong: `workspace_gone`, `permission_denied`, `resource_exhausted`.
  /// `spelling` overrides what the file system says of itself; for tests.
  held_root(const grant& rules, lookup names, std::optional<naming> spelling = std::nullopt)
      : rules_{rules}, names_{names} {
    path_ = rules.workspace();
    const int fd = ::open(path_.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
      error_ = code_of(errno);
      if (error_ != code::permission_denied && error_ != code::resource_exhausted) {
        error_ = code::workspace_gone;
      }
      return;
    }
    directory_ = descriptor{fd};
    struct stat status {};
    if (::fstat(fd, &status) != 0) error_ = code::input_output_error;
    id_ = identity_of(status);
    const descriptor readable{open_name(fd, ".", O_RDONLY | O_DIRECTORY)};
    naming_ = spelling ? *spelling : naming_of(readable.get(), path_);
    tells_files_ = readable.is_open() && copying_nothing_tells_files(readable.get());
  }
  held_root(const held_root&) = delete;
  held_root& operator=(const held_root&) = delete;

  [[nodiscard]] const std::optional<code>& error() const noexcept { return error_; }
  [[nodiscard]] const grant& rules() const noexcept { return rules_; }
  [[nodiscard]] std::string_view path() const noexcept { return path_; }
  [[nodiscard]] int fd() const noexcept { return directory_.get(); }
  [[nodiscard]] const identity& id() const noexcept { return id_; }
  [[nodiscard]] lookup names() const noexcept { return names_; }
  [[nodiscard]] naming spelling() const noexcept { return naming_; }

  /// True while the directory is still what the workspace's path names, as far as one may see.
  [[nodiscard]] bool is_in_place() const noexcept {
    struct stat status {};
    if (::fstatat(AT_FDCWD, path_.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      return errno == EACCES;
    }
    return identity_of(status) == id_;
  }

  /// True when `fd`, open for reading and nothing else, is a regular file. Asks by
  /// `error_of_copying_nothing` where that was found to tell, else by fstat.
  [[nodiscard, gnu::always_inline]] bool is_regular(int fd) const noexcept {
    if (tells_files_ && error_of_copying_nothing(fd) == EBADF) return true;
    struct stat status {};
    return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  }

  /// Where the name of a link ended in the path that was asked for last with one: a hint of where to
  /// look first, as calls that go through the same link follow each other.
  [[nodiscard]] std::size_t likely_link() const noexcept {
    return likely_link_.load(std::memory_order_relaxed);
  }
  void remember_link(std::size_t end) const noexcept {
    likely_link_.store(end, std::memory_order_relaxed);
  }

  /// True when a path below the workspace that crosses no link and no mount can be judged by its
  /// spelling: names are exact, the workspace is in place, and each carve-out is either absent or
  /// reached without a link or a mount. Looked at again when the last look is older than 10 ms, so
  /// that a burst of calls costs one look. Harness state that is a single file needs the careful way
  /// for reads too: a hard link is another name of it.
  [[nodiscard]] bool is_judged_by_name() const noexcept {
    if (names_ == lookup::walk_only || naming_ == naming::folding) return false;
    const auto now = coarse_now();
    if (now - looked_at_.load(std::memory_order_acquire) > fresh_for) {
      plain_.store(is_in_place() && carve_outs_are_plain(), std::memory_order_relaxed);
      looked_at_.store(now, std::memory_order_release);
    }
    return plain_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr std::int64_t fresh_for = 10'000'000;  // nanoseconds

  [[nodiscard]] static std::int64_t coarse_now() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);  // 6 ns: no call into the kernel
    return now.tv_sec * 1'000'000'000 + now.tv_nsec;
  }

  [[nodiscard]] bool carve_outs_are_plain() const noexcept {
    for (const auto& carve : rules_.carve_outs()) {
      char name[path_max];
      carve.path.copy(name, sizeof name - 1);
      name[carve.path.size()] = '\0';
      const int opened = open_below(names_, directory_.get(), name, {});
      if (opened == -ENOENT || opened == -ENOTDIR) continue;
      if (opened < 0) return false;
      const descriptor there{opened};
      struct stat status {};
      if (::fstat(opened, &status) != 0) return false;
      if (carve.kind == carve_kind::harness_state && !S_ISDIR(status.st_mode)) return false;
    }
    return true;
  }

  grant rules_;
  lookup names_;
  std::string path_;
  descriptor directory_;
  identity id_;
  naming naming_{naming::folding};
  bool tells_files_{false};
  std::optional<code> error_;
  mutable std::atomic<std::int64_t> looked_at_{-fresh_for * 2};
  mutable std::atomic<bool> plain_{false};
  mutable std::atomic<std::size_t> likely_link_{0};
};

}  // namespace pinfold::beneath
