// What the tests of cgroups share: the questions, and the tree that a harness gets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "launch/cgroup/run_cgroup.hpp"
#include "runner/cgroup_double.hpp"

namespace pinfold_test {

using namespace pinfold;

inline constexpr controllers both{.memory = true, .pids = true};
inline constexpr long another_process = 1;

inline resource_limits limits_of(std::optional<std::uint64_t> memory, std::optional<std::uint64_t> processes) {
  return {.memory = memory, .processes = processes, .cpu_time = {}, .file_size = {}};
}

/// Why there is no place; empty when there is one.
inline std::string why_none(const cgroup_double& kernel, controllers wanted = both) {
  const auto place = find_cgroup_place(kernel.search(), wanted);
  return place ? std::string{} : place.error();
}

inline std::string why_no_cgroup(const cgroup_double& kernel) {
  const auto made = run_cgroup::make(kernel.search(), limits_of(1 << 20, 10));
  return made ? std::string{} : made.error();
}

/// A cgroup with a harness in a leaf of it, as systemd's DelegateSubgroup= makes one.
struct delegated : cgroup_double {
  delegated() {
    add("unit");
    add("unit/harness");
    put(at("unit/cgroup.subtree_control"), "\n");
    sit("unit/harness");
    mark("unit");
  }
};

}  // namespace pinfold_test
