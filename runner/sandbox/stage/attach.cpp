// Each mount is made from a descriptor onto a descriptor (open_tree(2), move_mount(2); Linux 5.12 with
// mount_setattr(2)), which was opened through no link. Whoever renames something on the way at that
// moment gets a mount on the object that was there, and the proofs find that the path leads elsewhere.
// Nothing is ever created.
#include "attach.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/nsfs.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "digits.hpp"
#include "launch/attach_protocol.hpp"
#include "mount_table.hpp"
#include "stage.hpp"

namespace pinfold::attach {
namespace {

using stage::fail;
using stage::step;

/// "/proc/INIT/NAME" of the launcher's own /proc.
int open_of(std::int32_t init, const char* name) {
  char room[stage::most_digits];
  char path[64] = "/proc/";
  ::strcat(path, stage::digits(static_cast<std::uint64_t>(init), 10, room));
  ::strcat(path, name);
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail(step::enter_boundary, errno, path);
  return fd;
}

bool is_same_namespace(int one, int other) {
  struct stat a {};
  struct stat b {};
  return ::fstat(one, &a) == 0 && ::fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// What bwrap's --disable-userns does, for one more namespace: stage two's own. bwrap has made a second
/// one below the first where it could not do with one. The file answers for the namespace of whoever
/// opens it (user_namespaces(7)).
void limit_namespaces(bool has_second) {
  const int limit = ::open("/proc/sys/user/max_user_namespaces", O_WRONLY | O_CLOEXEC);
  if (limit < 0 || ::write(limit, has_second ? "2" : "1", 1) != 1) {
    fail(step::enter_boundary, errno, "max_user_namespaces");
  }
  ::close(limit);
}

/// The mount namespace belongs to the user namespace in which bwrap made it, whose owner we are; the
/// one that the command runs in lies below that and has no power over it. What the host mounts from now
/// on does not come in any more.
void enter(std::int32_t init, bool may_nest) {
  const int mounts = open_of(init, "/ns/mnt");
  const int users = open_of(init, "/ns/user");
  const int owner = ::ioctl(mounts, NS_GET_USERNS);
  if (owner < 0) fail(step::enter_boundary, errno, "its user namespace");
  if (::setns(owner, CLONE_NEWUSER) != 0) fail(step::enter_boundary, errno, "its user namespace");
  if (!may_nest) limit_namespaces(!is_same_namespace(owner, users));
  if (::setns(mounts, CLONE_NEWNS) != 0) fail(step::enter_boundary, errno, "its mount namespace");
  if (::syscall(SYS_mount, nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    fail(step::mounts_are_private, errno);
  }
}

int find(const char* path) {
  open_how how{};
  how.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  return static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how));
}

int place_at(const char* path) {
  const int fd = find(path);
  if (fd < 0) fail(step::attach_mount, errno, path);
  return fd;
}

/// 0 or an errno.
int change(int mount, std::uint64_t set, std::uint64_t clear, unsigned flags = 0) {
  mount_attr wanted{};
  wanted.attr_set = set;
  wanted.attr_clr = clear;
  const auto done = ::syscall(SYS_mount_setattr, mount, "", AT_EMPTY_PATH | flags, &wanted, sizeof wanted);
  return done == 0 ? 0 : errno;
}

/// With everything that is mounted below it.
void make_read_only(int mount, const char* path) {
  if (const int wrong = change(mount, MOUNT_ATTR_RDONLY, 0, AT_RECURSIVE); wrong != 0) {
    fail(step::attach_mount, wrong, path);
  }
}

/// What the host has mounted read-only stays so: the kernel lets nobody in here change that (EPERM).
void open_one(int mount, const char* path) {
  const int wrong = change(mount, 0, MOUNT_ATTR_RDONLY);
  if (wrong != 0 && wrong != EPERM) fail(step::attach_mount, wrong, path);
}

/// With everything that is mounted below it, as bwrap's own binds.
int copy_of(int place, const char* path) {
  constexpr unsigned whole = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE;
  const auto copy = ::syscall(SYS_open_tree, place, "", whole);
  if (copy < 0) fail(step::attach_mount, errno, path);
  return static_cast<int>(copy);
}

int empty_file_system(const entry& wanted, const char* path) {
  char room[stage::most_digits];
  const auto made = ::syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC);
  const int fd = static_cast<int>(made);
  const auto set = [&](const char* key, std::uint64_t value, unsigned base) {
    return ::syscall(SYS_fsconfig, fd, FSCONFIG_SET_STRING, key,
                     stage::digits(value, base, room), 0) == 0;
  };
  const bool is_made = fd >= 0 && set("size", wanted.size, 10) && set("mode", wanted.mode, 8) &&
                       ::syscall(SYS_fsconfig, fd, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) == 0;
  if (!is_made) fail(step::attach_mount, errno, path);
  const auto mount =
      ::syscall(SYS_fsmount, fd, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
  if (mount < 0) fail(step::attach_mount, errno, path);
  ::close(fd);
  return static_cast<int>(mount);
}

/// The sandbox's /dev/null opens; over a hidden file nothing is to be opened, as under bwrap's bind.
int closed_null_device(const char* path) {
  const int null = place_at("/dev/null");
  const int copy = copy_of(null, path);
  ::close(null);
  if (const int wrong = change(copy, MOUNT_ATTR_NODEV, 0); wrong != 0) {
    fail(step::attach_mount, wrong, path);
  }
  return copy;
}

int mount_for(const entry& wanted, int place, const char* path) {
  if (wanted.what == kind::empty) return empty_file_system(wanted, path);
  if (wanted.what == kind::null_device) return closed_null_device(path);
  return copy_of(place, path);
}

void move(int mount, int place, const char* path) {
  constexpr unsigned by_descriptor = MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH;
  if (::syscall(SYS_move_mount, mount, "", place, "", by_descriptor) != 0) {
    fail(step::attach_mount, errno, path);
  }
}

/// bwrap has made the whole of the host's tree read-only, each mount of it for itself.
void attach_writable(int place, const char* path, int table) {
  const int mount = copy_of(place, path);
  const int wrong = change(mount, 0, MOUNT_ATTR_RDONLY, AT_RECURSIVE);
  if (wrong != 0 && wrong != EPERM) fail(step::attach_mount, wrong, path);
  if (wrong == EPERM) open_one(mount, path);
  move(mount, place, path);
  ::close(mount);
  if (wrong != EPERM) return;
  mount_table all{table};
  while (const auto* one = all.next()) {
    if (!is_at_or_below(one->point, path) || ::strcmp(one->point, path) == 0) continue;
    const int at = place_at(one->point);
    open_one(at, one->point);
    ::close(at);
  }
}

void make(const entry& wanted, const char* path, int table) {
  const int place = find(path);
  if (place < 0 && stage::is_out_of_reach(errno) && wanted.what == kind::null_device) return;
  if (place < 0) fail(step::attach_mount, errno, path);
  if (wanted.what == kind::writable) {
    attach_writable(place, path, table);
  } else if (wanted.what == kind::close) {
    make_read_only(place, path);
  } else {
    const int mount = mount_for(wanted, place, path);
    if (wanted.what != kind::empty) make_read_only(mount, path);
    move(mount, place, path);
    ::close(mount);
  }
  ::close(place);
}

/// A copy of what stands at `source`: a place of this boundary, so no mount of the host lies in it.
void make_from(const entry& wanted, const char* path, const char* source) {
  const int from = place_at(source);
  const int place = place_at(path);
  const int mount = copy_of(from, source);
  if (wanted.what == kind::read_only_from) {
    make_read_only(mount, path);
  } else if (const int wrong = change(mount, 0, MOUNT_ATTR_RDONLY, AT_RECURSIVE); wrong != 0) {
    fail(step::attach_mount, wrong, path);
  }
  move(mount, place, path);
  ::close(mount);
  ::close(place);
  ::close(from);
}

/// What the host has mounted in a place that shows, since bwrap went through them: nothing more comes in
/// by now. What is covered, or lies where this user may not go, is nothing that a command could reach.
void close_what_came_in(const char* const* open, std::uint32_t count, int table) {
  mount_table all{table};
  while (const auto* one = all.next()) {
    if (one->is_as_meant(open, count)) continue;
    const int at = find(one->point);
    if (at < 0 && stage::is_out_of_reach(errno)) continue;
    if (at < 0) fail(step::mount_is_read_only, errno, one->point);
    if (mount_at(at, "") == one->id) {
      constexpr std::uint64_t closed = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
      if (const int wrong = change(at, closed, 0); wrong != 0) {
        fail(step::mount_is_read_only, wrong, one->point);
      }
    }
    ::close(at);
  }
}

/// False when the runner is gone or does not need us.
bool wait_for_target(target& where) {
  ssize_t got = 0;
  do {
    got = ::recv(stage::channel_fd, &where, sizeof where, 0);
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof where) && where.init > 0;
}

}  // namespace

bool is_meant(const char* own_name) {
  return own_name != nullptr && ::strcmp(own_name, program_name) == 0;
}

int attach_all() {
  auto list = stage::open_specification();
  head counts{};
  list.bytes(&counts, sizeof counts);
  if (counts.magic != magic) fail(step::read_specification, EINVAL);
  const auto** open = static_cast<const char**>(::calloc(counts.open_places + 1UL, sizeof(char*)));
  if (open == nullptr) fail(step::read_specification, ENOMEM);
  for (std::uint32_t i = 0; i < counts.open_places; ++i) open[i] = list.text();
  target where{};
  if (!wait_for_target(where)) return 1;
  const int table = open_of(where.init, "/mountinfo");
  enter(where.init, counts.may_nest != 0);
  close_what_came_in(open, counts.open_places, table);
  for (std::uint32_t i = 0; i < counts.entries; ++i) {
    entry wanted{};
    list.bytes(&wanted, sizeof wanted);
    const char* path = list.text();
    if (wanted.what == kind::writable_from || wanted.what == kind::read_only_from) {
      make_from(wanted, path, list.text());
    } else {
      make(wanted, path, table);
    }
  }
  stage::send({stage::report::attached, 0, 0, {}});
  return 0;
}

}  // namespace pinfold::attach
