// Stage two's proofs, one by one: the very plan of a run is sabotaged in one place (a bind left out,
// an option left out, a descriptor left open, a kernel that lies), and the command never starts. The
// refusal names the proof.
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

using namespace pinfold;
using pinfold_test::checkout;
using pinfold_test::is_root;
using pinfold_test::prepared_in;
namespace fs = std::filesystem;

namespace {

using words = std::vector<std::string>;

/// Puts other words in the place of some that are there once, next to each other.
void replace(launch_plan& plan, const words& old, const words& put) {
  const auto found = std::ranges::search(plan.options, old);
  INFO(old.front() << " " << old.back());
  REQUIRE(!found.empty());
  const auto at = plan.options.erase(found.begin(), found.end());
  plan.options.insert(at, put.begin(), put.end());
}

void leave_out(launch_plan& plan, const words& old) {
  replace(plan, old, {});
}

/// Before the last mounts, which close the hidden places.
void add_first_to_close(launch_plan& plan, const words& put) {
  const auto found = std::ranges::search(plan.options, words{"--remount-ro", "/run"});
  REQUIRE(!found.empty());
  plan.options.insert(found.begin(), put.begin(), put.end());
}

void write_wrapper(const checkout& where, launch_plan& plan, const std::string& text) {
  plan.program = where.home + "/wrapper";
  std::ofstream{plan.program} << "#!/bin/bash\n" << text << "\n";
  ::chmod(plan.program.c_str(), 0755);
}

using sabotage = std::function<void(const checkout&, launch_plan&)>;

/// What came of a run whose plan was sabotaged; the command must not have run.
enum class workspace_proofs : bool { kept, left_out };

std::string refusal_after(const sabotage& act, workspace_proofs earlier) {
  const checkout where;
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
  REQUIRE(record.error);
  CHECK(record.error->error == code::sandbox_unavailable);
  return record.error->detail;
}

void fails(const std::string& proof, const sabotage& act,
           workspace_proofs earlier = workspace_proofs::kept) {
  INFO(proof);
  const auto detail = refusal_after(act, earlier);
  INFO(detail);
  CHECK(detail.starts_with("stage two, " + proof + ": "));
}

sabotage without(const words& options) {
  return [options](const checkout&, launch_plan& plan) { leave_out(plan, options); };
}

/// Runs `act` in a thread of its own, whose filters and namespaces are gone with it.
void aside(const std::function<void()>& act) {
  std::thread{act}.join();
}

/// Answers one system call of this thread and its children without asking the kernel: errno 0 is a
/// lie ("done"). With `first`, only when that is its first argument. False: this user cannot.
bool answer_call(int call, unsigned error, int first = -1) {
  constexpr unsigned any = 0;
  const auto argument = static_cast<unsigned>(offsetof(seccomp_data, args));
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument),
      BPF_JUMP(BPF_JMP | (first < 0 ? BPF_JGE : BPF_JEQ) | BPF_K,
               first < 0 ? any : static_cast<unsigned>(first), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{static_cast<unsigned short>(std::size(code)), code};
  if (!is_root() && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0U, &program) == 0;
}

/// A place where a cgroup file system is mounted, of either version.
std::string mounted_cgroup() {
  std::ifstream table{"/proc/self/mountinfo"};
  std::string place;
  for (std::string line; std::getline(table, line);) {
    const auto fields = fields_of(line);
    if (fields.type.starts_with("cgroup")) place = fields.point;
  }
  return place;
}

bool has_another_device() {
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
bool enter_an_empty_network(bool with_route) {
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

const enforced_property& find(const run_record& record, std::string_view name) {
  const auto found = std::ranges::find(record.enforced, name, &enforced_property::name);
  REQUIRE(found != record.enforced.end());
  return *found;
}

}  // namespace

TEST_CASE("the plan as it is runs, and the record says what was held") {
  const checkout where;
  auto ready = prepared_in(where);
  const auto record = run(ready.plan, {}, {}, ready.extras);
  INFO((record.error ? record.error->detail : ""));
  CHECK(record.ended == ending::exited);
  CHECK(fs::exists(where.work() + "/started"));
  for (const auto* name : {"writes_outside", "network", "abstract_sockets_and_signals", "privileges",
                           "namespaces", "system_calls", "kernel_settings", "descriptors",
                           "left_processes", "core_dumps"}) {
    INFO(name);
    CHECK(find(record, name).held == strength::full);
    CHECK_FALSE(find(record, name).reason.empty());
  }
  CHECK(find(record, "reads_outside").held == strength::partial);
  CHECK(find(record, "path_sockets").held == strength::partial);
}

TEST_CASE("a run that may nest makes user namespaces and mounts in them, and gets no more") {
  const auto exit_code = [](nested_namespaces nesting, const std::string& script) {
    const checkout where;
    auto ready = prepared_in(where);
    ready.plan.nesting = nesting;
    if (nesting == nested_namespaces::allowed) leave_out(ready.plan, {"--disable-userns"});
    ready.plan.command = {"/bin/sh", "-c", script};
    return run(ready.plan, {}, {}, ready.extras).exit_code;
  };
  // Uid 0 without CAP_SETFCAP cannot map itself (Linux 5.12); `unshare -m` mounts all the same.
  const std::string nests = is_root() ? "unshare -Um true" : "unshare -Urm mount -t tmpfs none /tmp";
  CHECK(exit_code(nested_namespaces::allowed, nests) == 0);
  CHECK(exit_code(nested_namespaces::forbidden, nests) != 0);
  for (const auto nesting : {nested_namespaces::allowed, nested_namespaces::forbidden}) {
    CHECK(exit_code(nesting, "touch f; chmod 4755 f") != 0);
    CHECK(exit_code(nesting, "touch f; chmod 755 f") == 0);
  }
}

TEST_CASE("a capability that is left is found") {
  fails("capabilities-are-empty", [](const checkout&, launch_plan& plan) {
    replace(plan, {"--cap-drop", "ALL"}, {"--cap-add", "CAP_NET_RAW"});
  });
}

TEST_CASE("a namespace that is shared with the runner is found") {
  for (const auto* kind : {"ipc", "uts", "cgroup"}) {
    fails("own-" + std::string{kind} + "-namespace", without({"--unshare-" + std::string{kind}}));
  }
  if (!is_root()) return;  // bwrap needs a user namespace for everybody else
  fails("own-user-namespace", [](const checkout&, launch_plan& plan) {
    leave_out(plan, {"--unshare-user"});
    leave_out(plan, {"--disable-userns"});
  });
}

TEST_CASE("a PID namespace that is shared with the runner is found") {
  fails("own-pid-namespace", [](const checkout& where, launch_plan& plan) {
    const auto bwrap = plan.program;
    leave_out(plan, {"--unshare-pid"});
    replace(plan, {"--proc", "/proc"}, {"--ro-bind", "/proc", "/proc"});
    write_wrapper(where, plan, "exec " + bwrap + " --args 6 --info-fd 7 --block-fd 8 --sync-fd 9 " +
                                   "-- /proc/self/fd/5");
  });
}

TEST_CASE("a mount namespace that is shared with the runner is found") {
  const auto all_but_mounts = [](const checkout& where, launch_plan& plan) {
    write_wrapper(where, plan,
                  "read -r word <&8\n"  // stage two is not whole before
                  "exec 6<&- 7<&- 8<&-\n"
                  "exec unshare -Urnpiu -C --fork setpriv --no-new-privs --bounding-set=-all "
                  "--inh-caps=-all --ambient-caps=-all /proc/self/fd/5");
  };
  fails("own-mount-namespace", all_but_mounts, workspace_proofs::left_out);
}

TEST_CASE("a network that is there in spite of the plan is found") {
  if (has_another_device()) fails("no-network-device", without({"--unshare-net"}));
  if (!is_root()) return;  // only root can make a network without a user namespace
  aside([] {
    REQUIRE(enter_an_empty_network(false));
    fails("own-network-namespace", without({"--unshare-net"}));
  });
  aside([] {
    REQUIRE(enter_an_empty_network(true));
    fails("no-route", without({"--unshare-net"}));
  });
}

TEST_CASE("a sysctl that can be written is found") {
  fails("sysctls-are-closed", without({"--ro-bind", "/proc/sys", "/proc/sys"}));
}

TEST_CASE("a cgroup file system that can be written to is found") {
  if (mounted_cgroup().empty()) return;  // then there is none to be seen inside
  fails("cgroups-are-closed", [](const checkout&, launch_plan& plan) {
    const auto place = mounted_cgroup();
    replace(plan, {"--ro-bind", "/", "/"}, {"--ro-bind", "/", "/", "--bind", place, place});
  });
}

TEST_CASE("a root or a neighbourhood that can be written is found") {
  fails("outside-is-closed", [](const checkout&, launch_plan& plan) {
    replace(plan, {"--ro-bind", "/", "/"}, {"--bind", "/", "/"});
  });
  if (!is_root()) return;  // the checkout of an ordinary user lies in a scratch place here
  fails("outside-is-closed", [](const checkout& where, launch_plan& plan) {
    replace(plan, {"--bind", where.work(), where.work()},
            {"--bind", where.home, where.home, "--bind", where.work(), where.work()});
  });
}

TEST_CASE("a hidden place that is open or holds more than the plan says is found") {
  fails("hidden-place-is-closed", without({"--remount-ro", "/run"}));
  fails("hidden-place-is-closed", [](const checkout&, launch_plan& plan) {
    add_first_to_close(plan, {"--ro-bind", "/etc", "/run/extra"});
  });
  fails("hidden-place-is-closed", [](const checkout&, launch_plan& plan) {
    add_first_to_close(plan, {"--dir", "/tmp/extra"});
  });
  fails("hidden-place-is-closed", [](const checkout&, launch_plan& plan) {
    leave_out(plan, {"--perms", "755", "--size", "1048576", "--tmpfs", "/run"});
    leave_out(plan, {"--remount-ro", "/run"});
  });
  fails("hidden-place-is-closed", [](const checkout& where, launch_plan& plan) {
    replace(plan, {"--remount-ro", where.work() + "/.efferent"},
            {"--dir", where.work() + "/.efferent/x", "--remount-ro", where.work() + "/.efferent"});
  });
}

TEST_CASE("a secret that is not covered is found") {
  if (!is_root()) return;  // nobody else can read one
  fails("secret-is-covered", without({"--ro-bind", "/dev/null", "/etc/shadow"}));
}

TEST_CASE("a carve-out that is open, or another object, is found") {
  fails("carve-out-is-read-only", [](const checkout& where, launch_plan& plan) {
    const auto config = where.work() + "/.git/config";
    leave_out(plan, {"--ro-bind", config, config});
  });
  fails("compare-carve-out", [](const checkout& where, launch_plan& plan) {
    const auto config = where.work() + "/.git/config";
    replace(plan, {"--ro-bind", config, config}, {"--ro-bind", "/etc/passwd", config});
  });
}

TEST_CASE("another folder in the place of the workspace is found") {
  fails("same-workspace", [](const checkout& where, launch_plan& plan) {
    for (const auto* name : {"hooks", "info", "worktrees"}) {
      fs::create_directories(where.home + "/other/.git/" + name);
    }
    for (const auto* name : {"config", "commondir"}) {
      std::ofstream{where.home + "/other/.git/" + name} << ".";
    }
    replace(plan, {"--bind", where.work(), where.work()},
            {"--bind", where.home + "/other", where.work()});
  });
}

TEST_CASE("a descriptor that nobody meant to pass on is found") {
  fails("no-descriptor-left", [](const checkout& where, launch_plan& plan) {
    write_wrapper(where, plan, "exec 11</etc/passwd\nexec " + plan.program + " \"$@\"");
  });
}

TEST_CASE("a kernel that only says it filters is found") {
  aside([] {
    REQUIRE(answer_call(SYS_seccomp, 0));
    fails("system-calls-are-filtered", [](const checkout&, launch_plan&) {});
  });
  aside([] {
    REQUIRE(answer_call(SYS_seccomp, EINVAL));
    fails("filter-system-calls", [](const checkout&, launch_plan&) {});
  });
}

TEST_CASE("privileges that could be gained again are found") {
  if (!is_root()) return;  // for everybody else no_new_privs is what allows the lie
  aside([] {
    REQUIRE(answer_call(SYS_prctl, 0, PR_SET_NO_NEW_PRIVS));
    fails("no-new-privileges", [](const checkout&, launch_plan&) {});
  });
}

TEST_CASE("a kernel that only says it scopes sockets is found") {
  constexpr unsigned ask_version = 1;
  if (::syscall(SYS_landlock_create_ruleset, nullptr, 0UL, ask_version) < 6) return;  // Linux 6.12
  aside([] {
    REQUIRE(answer_call(SYS_landlock_restrict_self, 0));
    fails("sockets-are-scoped", [](const checkout&, launch_plan&) {});
  });
  aside([] {
    REQUIRE(answer_call(SYS_landlock_restrict_self, E2BIG));
    fails("scope-sockets", [](const checkout&, launch_plan&) {});
  });
}

TEST_CASE("a kernel that has no scopes for sockets is said in the record") {
  aside([] {
    REQUIRE(answer_call(SYS_landlock_create_ruleset, ENOSYS));
    for (const auto network : {network_access::off, network_access::on}) {
      const checkout where;
      auto ready = prepared_in(where, network);
      const auto record = run(ready.plan, {}, {}, ready.extras);
      CHECK(record.ended == ending::exited);
      CHECK(find(record, "abstract_sockets_and_signals").held ==
            (network == network_access::off ? strength::full : strength::partial));
    }
  });
}
