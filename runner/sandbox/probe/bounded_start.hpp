// How a probe starts a program: with next to nothing, and never for long.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/probe.hpp"

namespace pinfold {

[[nodiscard]] inline run_record start_bounded(const plan_starter& start,
                                              std::vector<std::string> command,
                                              std::chrono::milliseconds limit = probe_time) {
  launch_plan plan;
  plan.command = std::move(command);
  plan.environment = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8"};
  plan.directory = "/";
  plan.network = network_access::on;
  return start(plan,
               limits{.time = limit, .grace = std::chrono::milliseconds{100}, .output = 4096});
}

[[nodiscard]] inline bool has_succeeded(const run_record& record) {
  return record.ended == ending::exited && record.exit_code == 0;
}

}  // namespace pinfold
