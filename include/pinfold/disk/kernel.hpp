// The few calls to the Linux kernel that the descriptor-based resolver is made of. Nothing here
// decides about a path.
#pragma once

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/error.hpp>

namespace pinfold {

namespace beneath {

/// How names are looked up. `walk_only` never calls openat2, as on a kernel before 5.6 or under a
/// seccomp filter that does not know the call; the answers are the same.
enum class lookup : std::uint8_t { openat2, walk_only };

/// A file's identity: what stays the same whatever it is called.
struct identity {
  dev_t device{0};
  ino_t inode{0};
  friend bool operator==(const identity&, const identity&) = default;
};

[[nodiscard]] inline identity identity_of(const struct stat& status) noexcept {
  return {status.st_dev, status.st_ino};
}

/// The code for what the kernel said. ENXIO is what opening a socket, or a FIFO nobody reads, says.
[[nodiscard]] constexpr code code_of(int error) noexcept {
  switch (error) {
    case ENOENT: return code::not_found;
    case ENOTDIR: return code::not_a_directory;
    case EISDIR: return code::is_a_directory;
    case EEXIST: return code::already_exists;
    case ENOTEMPTY: return code::not_empty;
    case ELOOP: return code::symlink_loop;
    case ENAMETOOLONG: return code::name_too_long;
    case ENXIO:
    case ENODEV: return code::special_file;
    case EACCES:
    case EPERM:
    case EROFS:
    case ETXTBSY: return code::permission_denied;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOSPC:
    case EFBIG:
    case EDQUOT: return code::resource_exhausted;
    case EAGAIN:
    case EBUSY: return code::try_again;
    case EINVAL: return code::invalid_path;
    default: return code::input_output_error;
  }
}

/// What openat2 must hold to below the workspace: no link of any kind, no way up and out.
inline constexpr std::uint64_t no_links =
    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
/// And no other mount: behind one, a directory may be a carve-out under another name.
inline constexpr std::uint64_t no_links_or_mounts = no_links | RESOLVE_NO_XDEV;

/// The kernel answers EAGAIN when a rename anywhere ran beside a ".." (openat2(2)); under a rename
/// storm it needs up to 128 tries.
inline constexpr int most_tries = 128;

/// The arguments of openat2(2).
struct opening {
  int flags{O_PATH};
  mode_t mode{0};
  std::uint64_t resolve{no_links_or_mounts};
};

/// A descriptor for `path` below `directory`, or a negative errno: ENOSYS under `walk_only`. The
/// path is the kernel's to walk; `how.flags` always get O_CLOEXEC.
[[nodiscard]] inline int open_below(lookup names, int directory, const char* path,
                                    const opening& how) noexcept {
  if (names == lookup::walk_only) return -ENOSYS;
  struct open_how call {};
  call.flags = static_cast<std::uint64_t>(how.flags | O_CLOEXEC);
  call.mode = how.mode;
  call.resolve = how.resolve;
  int error = EAGAIN;
  for (int tries = 0; tries < most_tries && (error == EAGAIN || error == EINTR); ++tries) {
    const auto fd = ::syscall(SYS_openat2, directory, path, &call, sizeof call);
    if (fd >= 0) return static_cast<int>(fd);
    error = errno;
  }
  return -error;
}

/// One name in a directory, never through a link: a descriptor, or a negative errno.
[[nodiscard]] inline int open_name(int directory, const char* name, int flags,
                                   mode_t mode = 0) noexcept {
  int error = EINTR;
  for (int tries = 0; tries < most_tries && error == EINTR; ++tries) {
    const int fd = ::openat(directory, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd >= 0) return fd;
    error = errno;
  }
  return -error;
}

/// What copy_file_range(2) says of copying nothing from a descriptor for reading to itself: EBADF of
/// a regular file (which may not be written through it), EISDIR of a directory, EINVAL of everything
/// else; 0 never. The kernel answers out of what it holds, without the file system or a driver
/// (generic_file_rw_checks, since 5.3), in a third of the time that fstat takes.
[[nodiscard]] inline int error_of_copying_nothing(int fd) noexcept {
  return ::syscall(SYS_copy_file_range, fd, nullptr, fd, nullptr, 0, 0) == 0 ? 0 : errno;
}

/// Whether this kernel says so. A pipe is asked as well as the directory: EBADF for one of them
/// would make everything a regular file.
[[nodiscard]] inline bool copying_nothing_tells_files(int directory) noexcept {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  const descriptor reader{ends[0]};
  const descriptor writer{ends[1]};
  return error_of_copying_nothing(reader.get()) == EINVAL &&
         error_of_copying_nothing(directory) == EISDIR;
}

/// A directory by its name in another, for going down only: a descriptor, or a negative errno; ELOOP
/// where a link stands (openat itself says ENOTDIR of a link and of a file alike).
[[nodiscard]] inline int open_subdirectory(int directory, const char* name) noexcept {
  const int fd = open_name(directory, name, O_PATH | O_DIRECTORY);
  if (fd != -ENOTDIR) return fd;
  struct stat status {};
  const bool is_known = ::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
  return is_known && !S_ISLNK(status.st_mode) && !S_ISDIR(status.st_mode) ? -ENOTDIR : -ELOOP;
}

}  // namespace beneath
}  // namespace pinfold
