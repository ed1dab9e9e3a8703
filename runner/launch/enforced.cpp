// One line for each property. What is said here is never more than what stage two proved.
#include "launch/enforced.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "launch/stage_protocol.hpp"

namespace pinfold {
namespace {

using properties = std::vector<enforced_property>;

bool shows_the_machine(const launch_plan& plan) {
  return std::ranges::any_of(plan.mounts, [](const mount& one) {
    return one.target == "/" && one.kind == mount_kind::ro_bind;
  });
}

enforced_property reads_outside(const launch_plan& plan) {
  if (shows_the_machine(plan)) {
    return {"reads_outside", strength::partial,
            "the machine can be read outside the hidden places; --root minimal closes that"};
  }
  return {"reads_outside", strength::full, "only the places of the minimal root are there"};
}

enforced_property network(const launch_plan& plan) {
  if (plan.network == network_access::on) {
    return {"network", strength::none, "it was asked for"};
  }
  if (!plan.egress.empty()) {
    return {"network", strength::full,
            "no device but lo, and no route; a proxy outside reaches what is on the egress list"};
  }
  return {"network", strength::full, "no device but lo, and no route"};
}

/// Signals end at the PID namespace either way; abstract names end at the network namespace.
enforced_property scope(const launch_plan& plan, std::uint64_t obtained) {
  constexpr auto name = "abstract_sockets_and_signals";
  if ((obtained & stage::obtained_scope) != 0) {
    return {name, strength::full, "Landlock scopes them, and a connection was tried"};
  }
  if (plan.network == network_access::off) {
    return {name, strength::full, "network and PID namespaces of its own"};
  }
  return {name, strength::partial,
          "no process outside can be signalled, but abstract sockets of the host can be reached: "
          "the kernel has no Landlock scopes (Linux 6.12)"};
}

/// A FIFO is written to through a read-only mount like through any other.
enforced_property pipes_outside(const launch_plan& plan, std::uint64_t obtained) {
  constexpr auto name = "pipes_outside";
  if ((obtained & stage::obtained_writes) != 0) {
    return {name, strength::full, "Landlock lets nothing be opened for writing outside"};
  }
  if (!shows_the_machine(plan)) {
    return {name, strength::full, "only the places of the minimal root are there"};
  }
  return {name, strength::partial,
          plan.nesting == nested_namespaces::allowed
              ? "a FIFO of the host that shows can be written to: Landlock would forbid nested sandboxes"
              : "a FIFO of the host that shows can be written to: no Landlock here (Linux 5.19)"};
}

/// Never full: the kernel's list of sockets is a hint.
enforced_property path_sockets(const launch_plan& plan) {
  std::string reason =
      "hidden places hold none, and those that the kernel lists elsewhere are covered; one in the "
      "workspace, or bound by a relative name, stays visible";
  for (const auto& one : plan.mounts) {
    if (one.role == mount_role::socket) reason += "; allowed: " + one.target;
  }
  return {"path_sockets", strength::partial, std::move(reason)};
}

enforced_property namespaces(const launch_plan& plan) {
  if (plan.nesting == nested_namespaces::allowed) {
    return {"namespaces", strength::partial, "all are its own, and more can be made inside"};
  }
  return {"namespaces", strength::full, "all are its own, and none can be made inside"};
}

/// A limit of a confined run: not asked for, or held as `how` says.
enforced_property limit(const char* name, bool is_wanted, enforced_property how) {
  if (!is_wanted) return {name, strength::none, "no limit was asked for"};
  how.name = name;
  return how;
}

std::string watched(std::string how, const held_by_cgroup& cgroup) {
  if (!cgroup.why_not.empty()) how += "; no cgroup holds it: " + cgroup.why_not;
  return how;
}

enforced_property memory(const held_by_cgroup& cgroup) {
  if (cgroup.limits.memory) {
    return {{}, strength::full, "the kernel bounds it, without swap, in the cgroup " + cgroup.path};
  }
  return {{}, strength::partial,
          watched("stage two adds up resident memory and scratch places 50 times a second; files in "
                  "memory that nothing maps are not seen",
                  cgroup)};
}

/// The wall of the kernel binds a user namespace, but not uid 0 of the host (setrlimit(2)).
enforced_property processes(const held_by_cgroup& cgroup) {
  if (cgroup.limits.pids) {
    return {{}, strength::full, "the kernel bounds them in the cgroup " + cgroup.path};
  }
  const bool is_root = ::getuid() == 0;
  if (is_root) {
    return {{}, strength::partial,
            watched("stage two counts tasks 50 times a second and ends the run", cgroup)};
  }
  return {{}, strength::full, "stage two counts tasks, and the kernel's own limit stands above"};
}

void add_limits(properties& all, const resource_limits& limits, const held_by_cgroup& cgroup) {
  all.push_back(limit("memory", limits.memory.has_value(), memory(cgroup)));
  all.push_back(limit("processes", limits.processes.has_value(), processes(cgroup)));
  all.push_back(limit("cpu_time", limits.cpu_time.has_value(),
                      {{}, strength::partial,
                       "stage two adds up what lives and what was waited for, 50 times a second"}));
  all.push_back(limit("file_size", limits.file_size.has_value(),
                      {{}, strength::full, "the kernel bounds each file; their number is free"}));
  all.push_back({"tmp_size", strength::full, "each scratch place has a size"});
}

properties with_a_boundary(const launch_plan& plan, const resource_limits& limits,
                           const obtained_parts& obtained) {
  properties all{
      {"writes_outside", strength::full,
       "the root, the hidden places and the carve-outs are read-only, and a write was tried"},
      reads_outside(plan),
      network(plan),
      scope(plan, obtained.in_stage_two),
      pipes_outside(plan, obtained.in_stage_two),
      path_sockets(plan),
      {"privileges", strength::full, "no capability in any set, and none to be gained"},
      namespaces(plan),
      {"system_calls", strength::full, "filtered, and a call was tried"},
      {"kernel_settings", strength::full, "/proc/sys is read-only, and a write was tried"},
      {"descriptors", strength::full, "none but the first three"},
      {"left_processes", strength::full, "PID 1 of the sandbox kills what is left"},
      {"core_dumps", strength::full, "off"},
  };
  add_limits(all, limits, obtained.cgroup);
  return all;
}

properties with_no_boundary() {
  properties all;
  for (const auto* name :
       {"writes_outside", "reads_outside", "network", "abstract_sockets_and_signals",
        "pipes_outside", "path_sockets", "privileges", "namespaces", "system_calls",
        "kernel_settings"}) {
    all.push_back({name, strength::none, "there is no sandbox"});
  }
  all.push_back({"descriptors", strength::full, "none but the first three"});
  all.push_back({"left_processes", strength::partial,
                 "what is left is killed, unless the command killed stage two first"});
  return all;
}

}  // namespace

properties enforced_by(const launch_plan& plan, const resource_limits& limits,
                       const obtained_parts& obtained) {
  return plan.backend == backend_name::none ? with_no_boundary() : with_a_boundary(plan, limits, obtained);
}

}  // namespace pinfold
