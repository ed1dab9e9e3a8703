// The kernel locks mounts together that a less privileged namespace inherits (mount_namespaces(7)). Without
// that a command could hand a descriptor of "/" to one of another run, through a socket in a workspace
// that both have; when the namespace ended, each cover came off, and the host lay open behind it.
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "digits.hpp"
#include "mount_table.hpp"
#include "stage.hpp"

namespace pinfold::stage {
namespace {

void write_to(const char* path, const char* text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  const auto size = static_cast<ssize_t>(::strlen(text));
  if (fd < 0 || ::write(fd, text, static_cast<std::size_t>(size)) != size) {
    fail(step::lock_mounts, errno, path);
  }
  ::close(fd);
}

/// "ID ID 1": the same number inside and outside, and no other.
void map_itself(const char* path, std::uint64_t id) {
  char room[most_digits];
  const char* number = digits(id, 10, room);
  char line[2 * most_digits + 4] = "";
  for (const char* part : {number, " ", number, " 1"}) ::strcat(line, part);
  write_to(path, line);
}

/// A new user namespace brings every capability along.
void drop_capabilities() {
  for (unsigned long one = 0; one <= 63; ++one) {
    if (::prctl(PR_CAPBSET_DROP, one, 0, 0, 0) != 0 && errno != EINVAL) {
      fail(step::lock_mounts, errno, "the bounding set");
    }
  }
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2]{};
  if (::syscall(SYS_capset, &head, none) != 0) fail(step::lock_mounts, errno, "capabilities");
}

}  // namespace

void lock_mounts(const specification& spec) {
  const auto user = ::geteuid();
  const auto group = ::getegid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) fail(step::lock_mounts, errno, "unshare");
  // The maps belong to root while nobody may look into this process; nobody else is here yet.
  if (::prctl(PR_SET_DUMPABLE, 1) != 0) fail(step::lock_mounts, errno);
  write_to("/proc/self/setgroups", "deny");
  map_itself("/proc/self/uid_map", user);
  map_itself("/proc/self/gid_map", group);
  drop_capabilities();
  // Both are taken back when privileges change.
  if (::prctl(PR_SET_DUMPABLE, 0) != 0) fail(step::forbid_tracing, errno);
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail(step::die_with_bwrap, errno);
  const bool may_nest = (spec.counts.flags & flag_may_nest) != 0;
  if (!may_nest && ::unshare(CLONE_NEWUSER) == 0) fail(step::no_more_namespaces);
}

/// No mount of the host comes in while the command runs, and each that can be reached is read-only where
/// nothing is meant to be written.
void prove_mounts(const specification& spec) {
  const int fd = ::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail(step::mounts_are_private, errno, "/proc/self/mountinfo");
  attach::mount_table table{fd};
  while (const auto* one = table.next()) {
    if (one->optional[0] != '-') fail(step::mounts_are_private, 0, one->point);
    if (one->is_as_meant(spec.open, spec.open_count)) continue;
    const auto there = attach::mount_at(AT_FDCWD, one->point);
    if (there == one->id || (there == 0 && !is_out_of_reach(errno))) {
      fail(step::mount_is_read_only, 0, one->point);
    }
  }
  ::close(fd);
}

}  // namespace pinfold::stage
