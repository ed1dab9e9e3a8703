// A confined run beside a cgroup: who is put in and when, what ends the run, what the record says of
// it. The sandbox is real, the cgroup a directory tree that counts only what the test says.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runner/cgroup_double.hpp"
#include "runner/confined_ground.hpp"
#include "support/catch.hpp"

using namespace pinfold;
using pinfold_test::cgroup_double;
namespace fs = std::filesystem;

namespace {

/// A harness in a leaf of a cgroup that was delegated to it, and a checkout.
struct ground {
  ground() {
    kernel.add("unit");
    kernel.add("unit/harness");
    cgroup_double::put(kernel.at("unit/cgroup.subtree_control"), "\n");
    kernel.sit("unit/harness");
    kernel.mark("unit");
  }

  /// A shell command under limits that it passes at once, were they watched over.
  run_record run(const std::string& text, const std::function<void(ground&)>& once_it_runs = {}) {
    auto ready = pinfold_test::prepared_in(where);
    ready.plan.command = {"/bin/sh", "-c", text};
    ready.extras.cgroups = kernel.search();
    limits bounds;
    bounds.time = std::chrono::seconds{60};
    bounds.resources.memory = memory;
    bounds.resources.processes = 3;
    sinks events;
    events.on_output = [&](stream, std::string_view) {
      if (!ran_once_ && once_it_runs) once_it_runs(*this);
      ran_once_ = true;
    };
    return pinfold::run(ready.plan, bounds, events, ready.extras);
  }

  /// The run's own cgroup, while there is one.
  [[nodiscard]] std::string own() const {
    for (const auto& name : cgroup_double::children(kernel.at("unit"))) {
      if (is_cgroup_name(name)) return kernel.at("unit/" + name);
    }
    return {};
  }
  [[nodiscard]] std::string sitting() const { return cgroup_double::get(own() + "/inside/cgroup.procs"); }

  pinfold_test::work_tree where;
  cgroup_double kernel;
  std::optional<std::uint64_t> memory{1 << 20};

 private:
  bool ran_once_{false};
};

constexpr auto many_tasks =
    "head -c 4M /dev/zero >/tmp/x; for i in 1 2 3 4 5 6 7 8; do sleep 0.5 & done; echo up; wait";
constexpr auto waits = "sleep 60 & echo up; wait";  // the sleep is there when it is up

const enforced_property& part(const run_record& record, std::string_view name) {
  const auto found = std::ranges::find(record.enforced, name, &enforced_property::name);
  REQUIRE(found != record.enforced.end());
  return *found;
}

/// The last number behind "NSpid:": that of the innermost PID namespace.
std::string number_inside(const std::string& process) {
  const auto status = cgroup_double::get("/proc/" + process + "/status");
  const auto line = status.substr(status.find("NSpid:"));
  const auto end = line.find('\n');
  return line.substr(line.rfind('\t', end) + 1, end - line.rfind('\t', end) - 1);
}

}  // namespace

TEST_CASE("stage_two_alone_sits_in_the_cgroup_before_the_command_is_born") {
  ground at;
  std::string path;
  const auto record = at.run(many_tasks, [&path](ground& now) {
    path = now.own();
    auto process = now.sitting();
    REQUIRE(process.ends_with('\n'));
    process.pop_back();
    CHECK(number_inside(process) == "1");
  });
  INFO((record.error ? record.error->detail : ""));
  CHECK(record.ended == ending::exited);  // stage two looks no more at what the cgroup holds
  CHECK(record.exit_code == 0);
  CHECK_FALSE(record.limit);
  for (const auto* name : {"memory", "processes"}) {
    CHECK(part(record, name).held == strength::full);
    CHECK(part(record, name).reason.contains(path));
  }
  CHECK(at.own().empty());
}

TEST_CASE("a_limit_without_its_controller_is_watched_over_and_said_so") {
  ground at;
  for (const auto* name : {"cgroup.controllers", "unit/cgroup.controllers"}) {
    cgroup_double::put(at.kernel.at(name), "pids\n");
  }
  const auto record = at.run("head -c 4M /dev/zero >/tmp/x; sleep 60");
  CHECK(record.limit == run_limit::memory);
  CHECK(part(record, "memory").held == strength::partial);
  CHECK(part(record, "memory").reason.contains("no such controller"));
  CHECK(part(record, "processes").held == strength::full);
}

TEST_CASE("a_cgroup_that_cannot_be_entered_leaves_the_limits_to_the_watch") {
  ground at;
  at.memory = std::nullopt;
  at.kernel.break_writes("cgroup.procs", EACCES);
  const auto record = at.run(many_tasks);
  CHECK(record.ended == ending::limited);
  CHECK(record.limit == run_limit::processes);
  if (pinfold_test::is_root()) {
    CHECK(part(record, "processes").held == strength::partial);
    CHECK(part(record, "processes").reason.contains("cgroup.procs: Permission denied"));
  }
  CHECK_FALSE(part(record, "processes").reason.contains("in the cgroup"));
  CHECK(at.own().empty());
}

TEST_CASE("a_fork_that_the_kernel_refused_ends_the_run") {
  ground at;
  const auto record = at.run(waits, [](ground& now) {
    cgroup_double::put(now.own() + "/pids.events", "max 1\n");
  });
  CHECK(record.ended == ending::limited);
  CHECK(record.limit == run_limit::processes);
  CHECK(record.killed == 1);  // the sleep, beside the shell
  CHECK_FALSE(record.error);
  CHECK(exit_code_of(record) == 124);
  CHECK(at.own().empty());
}

TEST_CASE("memory_that_the_kernel_killed_for_ends_the_run") {
  for (const auto stage_two_too : {false, true}) {
    INFO(stage_two_too);
    ground at;
    const auto record = at.run(waits, [stage_two_too](ground& now) {
      cgroup_double::put(now.own() + "/memory.events", "oom 1\noom_kill 5\n");
      if (stage_two_too) ::kill(std::stoi(now.sitting()), SIGKILL);
    });
    CHECK(record.ended == ending::limited);
    CHECK(record.limit == run_limit::memory);
    CHECK(record.killed == (stage_two_too ? 3U : 1U));  // but stage two and the command
    CHECK_FALSE(record.error);
    CHECK(at.own().empty());
  }
}

TEST_CASE("a_machine_without_memory_is_no_limit_of_ours") {
  ground at;
  const auto record = at.run(waits, [](ground& now) {
    cgroup_double::put(now.own() + "/memory.events", "oom 0\noom_kill 5\n");
    ::kill(std::stoi(now.sitting()), SIGKILL);
  });
  CHECK(record.ended == ending::failed);
  CHECK_FALSE(record.limit);
  REQUIRE(record.error);
  CHECK(record.error->error == code::run_lost);
}

TEST_CASE("a_limit_met_as_the_command_ends_is_not_missed") {
  ground at;
  const auto record = at.run("echo up; sleep 0.3", [](ground& now) {
    // Too late for the loop to see it before the end is reported: written while it is here.
    cgroup_double::put(now.own() + "/pids.events", "max 1\n");
    ::usleep(600'000);
  });
  CHECK(record.ended == ending::limited);
  CHECK(record.limit == run_limit::processes);
}

TEST_CASE("without_a_limit_that_it_could_hold_no_cgroup_is_made") {
  ground at;
  auto ready = pinfold_test::prepared_in(at.where);
  ready.plan.command = {"/bin/sh", "-c", "echo up"};
  ready.extras.cgroups = at.kernel.search();
  bool was_there = false;
  sinks events;
  events.on_output = [&](stream, std::string_view) { was_there = !at.own().empty(); };
  const auto record = run(ready.plan, {}, events, ready.extras);
  CHECK(record.ended == ending::exited);
  CHECK_FALSE(was_there);
  CHECK(part(record, "processes").held == strength::none);
}
