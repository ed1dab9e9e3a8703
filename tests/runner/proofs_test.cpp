// Stage two's proofs, one by one: the very plan of a run is sabotaged in one place (a bind left out,
// an option left out, a descriptor left open, a kernel that lies), and the command never starts. The
// refusal names the proof.
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "runner/sabotage.hpp"

using namespace pinfold;
using namespace pinfold_test;

TEST_CASE("the plan as it is runs, and the record says what was held") {
  const work_tree where;
  auto ready = prepared_in(where);
  const auto record = run(ready.plan, {}, {}, ready.extras);
  INFO((record.error ? record.error->detail : ""));
  CHECK(record.ended == ending::exited);
  CHECK(fs::exists(where.work() + "/started"));
  for (const auto* name : {"writes_outside", "network", "abstract_sockets_and_signals",
                           "pipes_outside", "privileges",
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
    const work_tree where;
    auto ready = prepared_in(where);
    ready.plan.nesting = nesting;
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
  // What bwrap leaves is given up with its user namespace; a kernel that keeps it, and says it did not,
  // is found.
  aside([] {
    REQUIRE(answer_call(SYS_capset, 0));
    fails("capabilities-are-empty", [](const work_tree&, launch_plan&) {});
  });
}

TEST_CASE("a namespace that is shared with the runner is found") {
  for (const auto* kind : {"ipc", "uts", "cgroup"}) {
    fails("own-" + std::string{kind} + "-namespace", without({"--unshare-" + std::string{kind}}));
  }
  if (!is_root()) return;  // bwrap needs a user namespace for everybody else
  fails("own-user-namespace", [](const work_tree&, launch_plan& plan) {
    leave_out(plan, {"--unshare-user"});
  }, workspace_proofs::kept, "enter-boundary");  // found from outside too, whoever is first
}

TEST_CASE("a PID namespace that is shared with the runner is found") {
  fails("own-pid-namespace", [](const work_tree& where, launch_plan& plan) {
    const auto bwrap = plan.program;
    leave_out(plan, {"--unshare-pid"});
    replace(plan, {"--proc", "/proc"}, {"--ro-bind", "/proc", "/proc"});
    write_wrapper(where, plan, "exec " + bwrap + " --args 6 --info-fd 7 --block-fd 8 --sync-fd 9 " +
                                   "-- /proc/self/fd/5");
  });
}

TEST_CASE("a mount namespace that is shared with the runner is found") {
  const auto all_but_mounts = [](const work_tree& where, launch_plan& plan) {
    write_wrapper(where, plan,
                  "read -r word <&8\n"  // stage two is not whole before
                  // The runner's mounts have to go somewhere, or it is their failure that is told.
                  "unshare -Urm sh -c 'exec 3<&- 4<&- 5<&- 6<&- 8<&- 9<&- >/dev/null 2>&1; "
                  "echo \"{\\\"child-pid\\\": $$}\" >&7; exec 7<&- sleep 20' &\n"
                  "until [ -s /proc/self/fd/7 ]; do :; done\n"
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
  fails("cgroups-are-closed", [](const work_tree&, launch_plan& plan) {
    const auto place = mounted_cgroup();
    replace(plan, {"--ro-bind", "/", "/"}, {"--ro-bind", "/", "/", "--bind", place, place});
    plan.mounts.push_back({.kind = mount_kind::bind, .role = mount_role::shared, .source = place,
                           .target = place});
  });
}

TEST_CASE("what the host mounted while the boundary was made becomes read-only, or is found") {
  if (!is_root()) return;  // the checkout of an ordinary user lies in a scratch place here
  const auto came_in = [](const work_tree& where, launch_plan& plan) {
    const auto place = where.home + "/other";
    for (const auto& word : {std::string{"--bind"}, place, place}) plan.options.push_back(word);
  };
  {
    const work_tree where;
    auto ready = prepared_in(where);
    came_in(where, ready.plan);
    ready.plan.command = {"touch", where.home + "/other/new", "started"};
    const auto record = run(ready.plan, {}, {}, ready.extras);
    CHECK(record.ended == ending::exited);
    CHECK(record.exit_code == 1);
    CHECK(record.err.text.find("Read-only file system") != std::string::npos);
    CHECK(fs::exists(where.work() + "/started"));
  }
  aside([&] {
    // A kernel that says it changed one mount, and did not.
    REQUIRE(answer_call(SYS_mount_setattr, 0, AT_EMPTY_PATH, 2));
    fails("mount-is-read-only", came_in);
  });
}

TEST_CASE("a root or a neighbourhood that can be written is found") {
  aside([] {
    REQUIRE(answer_call(SYS_mount_setattr, 0, AT_EMPTY_PATH, 2));  // or it would be closed
    fails("outside-is-closed", [](const work_tree&, launch_plan& plan) {
      replace(plan, {"--ro-bind", "/", "/"}, {"--bind", "/", "/"});
    });
    if (!is_root()) return;  // the checkout of an ordinary user lies in a scratch place here
    fails("outside-is-closed", [](const work_tree& where, launch_plan& plan) {
      replace_workspace(where, plan,
                        {"--bind", where.home, where.home, "--bind", where.work(), where.work()});
    });
  });
}

TEST_CASE("a hidden place that is open or holds more than the plan says is found") {
  fails("hidden-place-is-closed", [](const work_tree&, launch_plan& plan) {
    leave_unattached(plan, mount_kind::remount_ro, "/run");
  });
  fails("hidden-place-is-closed", [](const work_tree&, launch_plan& plan) {
    for (const auto* word : {"--dir", "/tmp/extra"}) plan.options.emplace_back(word);
  });
  fails("hidden-place-is-closed", [](const work_tree&, launch_plan& plan) {
    leave_unattached(plan, mount_kind::tmpfs, "/run");
    leave_unattached(plan, mount_kind::remount_ro, "/run");
  });
  fails("carve-out-is-read-only", [](const work_tree& where, launch_plan& plan) {
    leave_unattached(plan, mount_kind::remount_ro, where.work() + "/.efferent");
  });
}

TEST_CASE("a secret that is not covered is found") {
  if (!is_root()) return;  // nobody else can read one
  fails("secret-is-covered", [](const work_tree&, launch_plan& plan) {
    leave_unattached(plan, mount_kind::ro_bind, "/etc/shadow");
  });
}

TEST_CASE("a carve-out that is open, or another object, is found") {
  fails("carve-out-is-read-only", [](const work_tree& where, launch_plan& plan) {
    const auto config = where.work() + "/.git/config";
    leave_unattached(plan, mount_kind::ro_bind, config);
  });
  fails("compare-carve-out", [](const work_tree& where, launch_plan& plan) {
    const auto config = where.work() + "/.git/config";
    attached_at(plan, mount_kind::ro_bind, config).source = "/dev/null";
  });
}

TEST_CASE("a place that became a link is attached to nothing, and nothing is made where it leads") {
  // bwrap would have made what is missing there: its own "/oldroot" is the host.
  for (const std::string root : {"", "/oldroot"}) {
    std::string outside;
    const auto detail = refusal_after(
        [&](const work_tree& where, launch_plan&) {
          outside = where.home + "/outside";
          fs::create_directory(outside);
          fs::rename(where.work() + "/.git", where.home + "/moved");
          fs::create_symlink(root + outside, where.work() + "/.git");
        },
        workspace_proofs::kept, [&] { CHECK(fs::is_empty(outside)); });
    INFO(detail);
    CHECK(detail.starts_with("stage two, attach-mount: Too many levels of symbolic links: "));
  }
}

TEST_CASE("a socket that went while the run started needs no cover") {
  const work_tree where;
  auto ready = prepared_in(where);
  const auto gone = where.home + "/socket";
  ready.plan.attached.push_back(
      {.kind = mount_kind::ro_bind, .role = mount_role::hidden, .source = "/dev/null", .target = gone});
  ready.plan.mounts.push_back(ready.plan.attached.back());
  const auto record = run(ready.plan, {}, {}, ready.extras);
  INFO((record.error ? record.error->detail : ""));
  CHECK(record.ended == ending::exited);
  CHECK_FALSE(fs::exists(gone));
}

TEST_CASE("mounts that cannot be attached end the run before the command") {
  aside([] {
    REQUIRE(answer_call(SYS_open_tree, ENOSYS));
    fails("attach-mount", [](const work_tree&, launch_plan&) {});
  });
  aside([] {
    REQUIRE(answer_call(SYS_move_mount, EPERM));
    fails("attach-mount", [](const work_tree&, launch_plan&) {});
  });
  aside([] {
    REQUIRE(answer_call(SYS_move_mount, 0));  // done, says the kernel, and nothing is there to close
    fails("attach-mount", [](const work_tree&, launch_plan&) {});
  });
  aside([] {
    REQUIRE(answer_call(SYS_setns, EPERM));
    fails("enter-boundary", [](const work_tree&, launch_plan&) {});
  });
}

TEST_CASE("another folder in the place of the workspace is found") {
  fails("same-workspace", [](const work_tree& where, launch_plan& plan) {
    for (const auto* name : {"hooks", "info", "worktrees"}) {
      fs::create_directories(where.home + "/other/.git/" + name);
    }
    for (const auto* name : {"config", "commondir"}) {
      std::ofstream{where.home + "/other/.git/" + name} << ".";
    }
    replace_workspace(where, plan, {"--bind", where.home + "/other", where.work()});
  });
}

TEST_CASE("a descriptor that nobody meant to pass on is found") {
  fails("no-descriptor-left", [](const work_tree& where, launch_plan& plan) {
    write_wrapper(where, plan, "exec 11</etc/passwd\nexec " + plan.program + " \"$@\"");
  });
}

TEST_CASE("a kernel that only says it filters is found") {
  aside([] {
    REQUIRE(answer_call(SYS_seccomp, 0));
    fails("system-calls-are-filtered", [](const work_tree&, launch_plan&) {});
  });
  aside([] {
    REQUIRE(answer_call(SYS_seccomp, EINVAL));
    fails("filter-system-calls", [](const work_tree&, launch_plan&) {});
  });
}

TEST_CASE("privileges that could be gained again are found") {
  if (!is_root()) return;  // for everybody else no_new_privs is what allows the lie
  aside([] {
    REQUIRE(answer_call(SYS_prctl, 0, PR_SET_NO_NEW_PRIVS));
    fails("no-new-privileges", [](const work_tree&, launch_plan&) {});
  });
}

TEST_CASE("a kernel that only says it scopes sockets is found") {
  constexpr unsigned ask_version = 1;
  if (::syscall(SYS_landlock_create_ruleset, nullptr, 0UL, ask_version) < 6) return;  // Linux 6.12
  aside([] {
    REQUIRE(answer_call(SYS_landlock_restrict_self, 0));
    fails("sockets-are-scoped", [](const work_tree&, launch_plan&) {});
  });
  aside([] {
    REQUIRE(answer_call(SYS_landlock_restrict_self, E2BIG));
    fails("scope-sockets", [](const work_tree&, launch_plan&) {});
  });
}

TEST_CASE("a kernel that has no scopes for sockets is said in the record") {
  aside([] {
    REQUIRE(answer_call(SYS_landlock_create_ruleset, ENOSYS));
    for (const auto network : {network_access::off, network_access::on}) {
      const work_tree where;
      auto ready = prepared_in(where, network);
      const auto record = run(ready.plan, {}, {}, ready.extras);
      CHECK(record.ended == ending::exited);
      CHECK(find(record, "abstract_sockets_and_signals").held ==
            (network == network_access::off ? strength::full : strength::partial));
    }
  });
}
