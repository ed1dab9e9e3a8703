// The blocking interface: start, watch, record.
#include "launch/run.hpp"

#include <csignal>
#include <expected>
#include <string>
#include <utility>

#include "launch/cgroup/run_cgroup.hpp"
#include "launch/start.hpp"
#include "launch/supervisor.hpp"

namespace pinfold {
namespace {

/// Without one, stage two watches over the same limits; the record says which it was.
std::expected<run_cgroup, std::string> cgroup_for(const launch_plan& plan,
                                                  const resource_limits& limits,
                                                  const cgroup_search& search) {
  const bool is_wanted = controllers::for_limits(limits).is_any();
  if (plan.backend == backend_name::none || !is_wanted) return std::unexpected{std::string{}};
  return run_cgroup::make(search, limits);
}

}  // namespace

run_record run(const launch_plan& plan, const limits& bounds, const sinks& events,
               const launch_extras& extras) {
  const auto asked = supervisor::clock::now();
  auto started = start_stage(plan, bounds.resources, events, extras);
  if (!started) {
    run_record record;
    record.backend = plan.backend;
    record.network = plan.network;
    if (!plan.egress.empty()) {
      egress_report unused;
      unused.list = plan.egress;
      record.egress = std::move(unused);
    }
    record.workspace = plan.workspace;
    record.error = std::move(started.error());
    return record;
  }
  // Made while bwrap is at its own work.
  auto cgroup = cgroup_for(plan, bounds.resources, extras.cgroups);
  supervisor watched{plan,  bounds, events, extras, std::move(*started), std::move(cgroup),
                     asked};
  if (extras.meanwhile) extras.meanwhile();
  return watched.watch();
}

int exit_code_of(const run_record& record) noexcept {
  constexpr int by_signal = 128;
  switch (record.ended) {
    case ending::exited:
      return record.exit_code.value_or(125);
    case ending::signaled:
      return by_signal + record.signal.value_or(0);
    case ending::timed_out:
    case ending::limited:
      return 124;
    case ending::cancelled:
      return by_signal + SIGINT;
    case ending::refused:
    case ending::failed:
      break;
  }
  if (!record.error) return 125;
  if (record.error->error == code::command_not_found) return 127;
  return record.error->error == code::command_not_executable ? 126 : 125;
}

}  // namespace pinfold
