// Where a run's cgroup may be made: a cgroup v2 that was given to us (a delegated one), that has the
// controllers, and in which no process stands in the way. It only looks; nothing is changed.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/runner/bounds.hpp>

#include "launch/cgroup/files.hpp"

namespace pinfold {

/// Where to look; a test looks elsewhere.
struct cgroup_search {
  std::string proc{"/proc"};
  std::string service_manager{"/run/systemd/system"};  ///< there while systemd runs (sd_booted(3))
  const cgroup_files* files{&kernel_cgroup_files()};
};

/// The controllers that bound what a run may use.
struct controllers {
  bool memory{false};
  bool pids{false};

  [[nodiscard]] bool is_any() const noexcept { return memory || pids; }
  [[nodiscard]] static controllers for_limits(const resource_limits& limits) noexcept {
    return {limits.memory.has_value(), limits.processes.has_value()};
  }
  /// Of a list as in cgroup.controllers: names with blanks between.
  [[nodiscard]] static controllers listed_in(std::string_view text) noexcept;
};

struct cgroup_place {
  std::string path;  ///< absolute, as this process sees it
  descriptor held;
  controllers offered;  ///< those that were wanted and can be had
  controllers enabled;  ///< of these, what children get already
  /// This process, and it alone, sits right in it: it has to make room before children get controllers.
  bool is_our_seat{false};
};

/// The place for a run that wants these controllers, at least one of them. The rules, in their order:
///  1. the cgroup2 mount under which our own cgroup (/proc/self/cgroup, "0::") is seen
///  2. our own cgroup, if it was given to us and no process sits in it (the root of all alone)
///  3. the one above, if it was given to us and no process sits in it: a harness in a leaf
///  4. our own, if it was given to us and this process alone sits in it
///  5. none: the error is a clause that says why
/// Given to us is what bears the service manager's mark and, where no systemd runs, our own cgroup when
/// it can be written to. Never one in which another service manager sits ("init.scope").
[[nodiscard]] std::expected<cgroup_place, std::string> find_cgroup_place(const cgroup_search& search,
                                                                         controllers wanted);

/// The name of a cgroup of ours: "pinfold-PID-CHANCE"; empty when there is no chance to be had.
[[nodiscard]] std::string new_cgroup_name();
/// Whether `name` is one that such a process gave; with `pid` 0, any process.
[[nodiscard]] bool is_cgroup_name(std::string_view name, long pid = 0) noexcept;

}  // namespace pinfold
