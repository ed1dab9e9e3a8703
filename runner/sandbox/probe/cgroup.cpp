// The very cgroup that a run would get, with small limits and nobody in it.
#include "launch/cgroup/run_cgroup.hpp"
#include "sandbox/probe.hpp"

namespace pinfold {
namespace {

std::string names_of(controllers held) {
  if (held.memory && held.pids) return "memory and processes";
  return held.memory ? "memory" : "processes";
}

}  // namespace

probe_line probe_cgroup(const cgroup_search& search) {
  const resource_limits tried{
      .memory = 64ULL << 20, .processes = 64, .cpu_time = {}, .file_size = {}};
  const auto made = run_cgroup::make(search, tried);
  if (made) {
    return {"cgroup", probe_status::info,
            "the kernel bounds " + names_of(made->held()) + " of a run, in a cgroup such as " +
                made->path(),
            {}};
  }
  return {"cgroup", probe_status::info,
          "none bounds memory and processes, so stage two watches over them: " + made.error() +
              ". systemd gives one away with: systemd-run --scope -p Delegate=yes pinfold ... (a user's "
              "own manager does not mark it so: SECURITY.md)",
          {}};
}

}  // namespace pinfold
