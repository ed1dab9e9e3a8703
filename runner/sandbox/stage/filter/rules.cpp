// The table. Facts come from the manual pages and from the kernel's entry points: what the kernel
// cuts to 32 bits or to a mode is compared in that width, so that no upper bit slips past.
#include "sandbox/stage/filter/rules.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <iterator>

namespace pinfold::filter {
namespace {

using rules = std::vector<rule>;

// Not known to libseccomp 2.5 by name.
constexpr int call_fchmodat2 = 452;       // Linux 6.6
constexpr int call_open_tree_attr = 467;  // Linux 6.15

/// The low 32 bits of an argument: what the kernel looks at where it takes an int.
scmp_arg_cmp has_bits(unsigned argument, scmp_datum_t bits) {
  return scmp_arg_cmp{argument, SCMP_CMP_MASKED_EQ, bits, bits};
}
scmp_arg_cmp is_int(unsigned argument, unsigned value) {
  return scmp_arg_cmp{argument, SCMP_CMP_MASKED_EQ, 0xffffffffU, value};
}
scmp_arg_cmp compare(unsigned argument, scmp_compare how, scmp_datum_t value) {
  return scmp_arg_cmp{argument, how, value, 0};
}

/// Putting characters into a terminal's input, and the console's own editing (CVE-2017-5226,
/// CVE-2023-28100). The command is an unsigned int to the kernel (CVE-2019-10063).
rules terminals() {
  constexpr unsigned tioclinux = 0x541c;
  return {{SCMP_SYS(ioctl), EPERM, {is_int(1, TIOCSTI)}},
          {SCMP_SYS(ioctl), EPERM, {is_int(1, tioclinux)}}};
}

/// Keyrings are not namespaced by user alone; the rest are the kernel's widest doors, and no build
/// tool needs them.
rules kernel_doors() {
  rules list;
  for (const int call :
       {SCMP_SYS(add_key), SCMP_SYS(request_key), SCMP_SYS(keyctl), SCMP_SYS(bpf),
        SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(io_uring_setup),
        SCMP_SYS(io_uring_enter), SCMP_SYS(io_uring_register), SCMP_SYS(kexec_load),
        SCMP_SYS(kexec_file_load), SCMP_SYS(init_module), SCMP_SYS(finit_module),
        SCMP_SYS(delete_module), SCMP_SYS(create_module), SCMP_SYS(query_module),
        SCMP_SYS(get_kernel_syms), SCMP_SYS(open_by_handle_at)}) {
    list.push_back({call, EPERM, {}});
  }
  return list;
}

rules mounts() {
  rules list;
  for (const int call : {SCMP_SYS(mount), SCMP_SYS(umount), SCMP_SYS(umount2),
                         SCMP_SYS(pivot_root), SCMP_SYS(open_tree), SCMP_SYS(move_mount),
                         SCMP_SYS(fsopen), SCMP_SYS(fsconfig), SCMP_SYS(fsmount), SCMP_SYS(fspick),
                         SCMP_SYS(mount_setattr), call_open_tree_attr}) {
    list.push_back({call, EPERM, {}});
  }
  return list;
}

/// clone3 takes its flags from memory, where a filter cannot look: it does not exist, and the C
/// library goes back to clone, whose flags are its first argument.
rules namespaces() {
  return {{SCMP_SYS(setns), EPERM, {}},
          {SCMP_SYS(unshare), EPERM, {has_bits(0, CLONE_NEWUSER)}},
          {SCMP_SYS(clone), EPERM, {has_bits(0, CLONE_NEWUSER)}},
          {SCMP_SYS(clone3), ENOSYS, {}}};
}

/// Left: AF_UNIX, AF_INET, AF_INET6, and of AF_NETLINK the protocol that lists addresses. A family
/// with bits above the lower 32 is larger than all of them.
rules sockets() {
  rules list;
  const auto refuse = [&list](scmp_arg_cmp family) {
    list.push_back({SCMP_SYS(socket), EPERM, {family}});
  };
  for (unsigned family = 0; family < AF_NETLINK; ++family) {
    if (family == AF_UNIX || family == AF_INET || family == AF_INET6) continue;
    refuse(compare(0, SCMP_CMP_EQ, family));
  }
  refuse(compare(0, SCMP_CMP_GT, AF_NETLINK));
  constexpr unsigned netlink_route = 0;
  list.push_back({SCMP_SYS(socket),
                  EPERM,
                  {compare(0, SCMP_CMP_EQ, AF_NETLINK), compare(2, SCMP_CMP_NE, netlink_route)}});
  list.push_back({SCMP_SYS(socketpair), EPERM, {compare(0, SCMP_CMP_NE, AF_UNIX)}});
  return list;
}

/// PID 1 counts what limits are held by: its own limits, its turn on the processor and at the disk are
/// nobody else's to set. A user's processes as a whole would be it as well.
rules first_process() {
  constexpr unsigned io_process = 1, io_group = 2, io_user = 3;  // linux/ioprio.h
  rules list;
  for (const int call : {SCMP_SYS(prlimit64), SCMP_SYS(sched_setscheduler), SCMP_SYS(sched_setparam),
                         SCMP_SYS(sched_setattr), SCMP_SYS(sched_setaffinity)}) {
    list.push_back({call, EPERM, {is_int(0, 1)}});
  }
  list.push_back({SCMP_SYS(setpriority), EPERM, {is_int(0, PRIO_PROCESS), is_int(1, 1)}});
  // A command can join the group of PID 1, and 0 stands for one's own.
  list.push_back({SCMP_SYS(setpriority), EPERM, {is_int(0, PRIO_PGRP)}});
  list.push_back({SCMP_SYS(setpriority), EPERM, {is_int(0, PRIO_USER)}});
  list.push_back({SCMP_SYS(ioprio_set), EPERM, {is_int(0, io_process), is_int(1, 1)}});
  list.push_back({SCMP_SYS(ioprio_set), EPERM, {is_int(0, io_group)}});
  list.push_back({SCMP_SYS(ioprio_set), EPERM, {is_int(0, io_user)}});
  return list;
}

/// A lease on a file that can only be read keeps whoever opens it for writing waiting, outside too.
rules leases() {
  return {{SCMP_SYS(fcntl), EPERM, {is_int(1, F_SETLEASE)}}};
}

/// Every call that can give a file its set-user-ID or set-group-ID bit. openat2 has its mode in
/// memory, so it does not exist. mkdir and mkdirat drop the bits themselves.
rules set_id_bits() {
  constexpr auto tmpfile = static_cast<scmp_datum_t>(O_TMPFILE & ~O_DIRECTORY);
  rules list{{SCMP_SYS(openat2), ENOSYS, {}}};
  for (const scmp_datum_t bit : {S_ISUID, S_ISGID}) {
    list.push_back({SCMP_SYS(chmod), EPERM, {has_bits(1, bit)}});
    list.push_back({SCMP_SYS(fchmod), EPERM, {has_bits(1, bit)}});
    list.push_back({SCMP_SYS(fchmodat), EPERM, {has_bits(2, bit)}});
    list.push_back({call_fchmodat2, EPERM, {has_bits(2, bit)}});
    list.push_back({SCMP_SYS(mknod), EPERM, {has_bits(1, bit)}});
    list.push_back({SCMP_SYS(mknodat), EPERM, {has_bits(2, bit)}});
    list.push_back({SCMP_SYS(creat), EPERM, {has_bits(1, bit)}});
    for (const scmp_datum_t creates : {scmp_datum_t{O_CREAT}, tmpfile}) {
      list.push_back({SCMP_SYS(open), EPERM, {has_bits(1, creates), has_bits(2, bit)}});
      list.push_back({SCMP_SYS(openat), EPERM, {has_bits(2, creates), has_bits(3, bit)}});
    }
  }
  return list;
}

}  // namespace

std::vector<rule> rules_for(nesting choice) {
  rules list;
  const auto add = [&list](rules more) {
    list.insert(list.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
  };
  add(terminals());
  add(kernel_doors());
  add(sockets());
  add(set_id_bits());
  add(first_process());
  add(leases());
  if (choice == nesting::allowed) return list;
  add(mounts());
  add(namespaces());
  return list;
}

}  // namespace pinfold::filter
