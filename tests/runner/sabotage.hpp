// How the plan of a run, or the kernel under it, is spoilt in one place, and what the refusal said.
#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <net/route.h>
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "launch/mountinfo.hpp"
#include "runner/confined_ground.hpp"
#include "runner/ground.hpp"
#include "support/catch.hpp"

namespace pinfold_test {

using namespace pinfold;
namespace fs = std::filesystem;

using words = std::vector<std::string>;

/// Puts other words in the place of some that are there once, next to each other.
inline void replace(launch_plan& plan, const words& old, const words& put) {
  const auto found = std::ranges::search(plan.options, old);
  INFO(old.front() << " " << old.back());
  REQUIRE(!found.empty());
  const auto at = plan.options.erase(found.begin(), found.end());
  plan.options.insert(at, put.begin(), put.end());
}

inline void leave_out(launch_plan& plan, const words& old) {
  replace(plan, old, {});
}

/// A mount that the runner attaches by descriptor.
inline mount& attached_at(launch_plan& plan, mount_kind kind, const std::string& target) {
  const auto found = std::ranges::find_if(plan.attached, [&](const mount& one) {
    return one.kind == kind && one.target == target;
  });
  INFO(target);
  REQUIRE(found != plan.attached.end());
  return *found;
}

inline void leave_unattached(launch_plan& plan, mount_kind kind, const std::string& target) {
  const auto& one = attached_at(plan, kind, target);
  plan.attached.erase(plan.attached.begin() + (&one - plan.attached.data()));
}

/// Puts other words in the place of the workspace's bind, which lies among bwrap's options only where
/// an empty place of the sandbox is below it (the checkout of an ordinary user).
inline void replace_workspace(const work_tree& where, launch_plan& plan, const words& put) {
  if (!is_root()) return replace(plan, {"--bind", where.work(), where.work()}, put);
  leave_unattached(plan, mount_kind::bind, where.work());
  replace(plan, {"--chdir", plan.directory}, {});
  plan.options.insert(plan.options.end(), put.begin(), put.end());
}

inline void write_wrapper(const work_tree& where, launch_plan& plan, const std::string& text) {
  plan.program = where.home + "/wrapper";
  std::ofstream{plan.program} << "#!/bin/bash\n" << text << "\n";
  ::chmod(plan.program.c_str(), 0755);
}

using sabotage = std::function<void(const work_tree&, launch_plan&)>;

/// What came of a run whose plan was sabotaged; the command must not have run.
enum class workspace_proofs : bool { kept, left_out };

inline std::string refusal_after(const sabotage& act, workspace_proofs earlier,
                                 const std::function<void()>& afterwards = {}) {
  const work_tree where;
  auto ready = prepared_in(where);
  if (earlier == workspace_proofs::left_out) {
    ready.extras.proofs.clear();
    ready.extras.files.clear();
  }
  act(where, ready.plan);
  const auto record = run(ready.plan, {}, {}, ready.extras);
  CHECK(record.ended == ending::refused);
  CHECK_FALSE(fs::exists(where.work() + "/started"));
  CHECK(record.enforced.empty());
  if (afterwards) afterwards();
  REQUIRE(record.error);
  CHECK(record.error->error == code::sandbox_unavailable);
  return record.error->detail;
}

inline void fails(const std::string& proof, const sabotage& act,
           workspace_proofs earlier = workspace_proofs::kept, const std::string& or_else = {}) {
  INFO(proof);
  const auto detail = refusal_after(act, earlier);
  INFO(detail);
  const auto is_told = [&](const std::string& step) {
    return !step.empty() && detail.starts_with("stage two, " + step + ": ");
  };
  CHECK((is_told(proof) || is_told(or_else)));
}

inline sabotage without(const words& options) {
  return [options](const work_tree&, launch_plan& plan) { leave_out(plan, options); };
}

/// Runs `act` in a thread of its own, whose filters and namespaces are gone with it.
inline void aside(const std::function<void()>& act) {
  std::thread{act}.join();
}

/// Answers one system call of this thread and its children without asking the kernel: errno 0 is a
/// lie ("done"). With `value`, only when that is the argument of this place. False: this user cannot.
inline bool answer_call(int call, unsigned error, int value = -1, unsigned place = 0) {
  constexpr unsigned any = 0;
  const auto argument =
      static_cast<unsigned>(offsetof(seccomp_data, args) + place * sizeof(std::uint64_t));
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument),
      BPF_JUMP(BPF_JMP | (value < 0 ? BPF_JGE : BPF_JEQ) | BPF_K,
               value < 0 ? any : static_cast<unsigned>(value), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{static_cast<unsigned short>(std::size(code)), code};
  if (!is_root() && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0U, &program) == 0;
}

/// A place where a cgroup file system is mounted, of either version.
inline std::string mounted_cgroup() {
  std::ifstream table{"/proc/self/mountinfo"};
  std::string place;
  for (std::string line; std::getline(table, line);) {
    const auto fields = fields_of(line);
    if (fields.type.starts_with("cgroup")) place = fields.point;
  }
  return place;
}

inline bool has_another_device() {
  std::ifstream list{"/proc/self/net/dev"};
  std::string line;
  std::getline(list, line);
  std::getline(list, line);
  while (std::getline(list, line)) {
    if (line.find("lo:") == std::string::npos) return true;
  }
  return false;
}

/// A network namespace for this thread with lo alone, and a route through it when asked for.
inline bool enter_an_empty_network(bool with_route) {
  if (::unshare(CLONE_NEWNET) != 0) return false;
  if (!with_route) return true;
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq lo{};
  std::strcpy(lo.ifr_name, "lo");
  lo.ifr_flags = IFF_UP;
  bool done = ::ioctl(fd, SIOCSIFFLAGS, &lo) == 0;
  rtentry route{};
  char device[] = "lo";
  route.rt_dev = device;
  route.rt_flags = RTF_UP;
  const auto address = [](sockaddr& to, std::uint32_t value) {
    sockaddr_in one{};
    one.sin_family = AF_INET;
    one.sin_addr.s_addr = htonl(value);
    std::memcpy(&to, &one, sizeof one);
  };
  address(route.rt_dst, 0xc0000200);  // 192.0.2.0/24
  address(route.rt_genmask, 0xffffff00);
  done = done && ::ioctl(fd, SIOCADDRT, &route) == 0;
  ::close(fd);
  return done;
}

inline const enforced_property& find(const run_record& record, std::string_view name) {
  const auto found = std::ranges::find(record.enforced, name, &enforced_property::name);
  REQUIRE(found != record.enforced.end());
  return *found;
}

}  // namespace pinfold_test
