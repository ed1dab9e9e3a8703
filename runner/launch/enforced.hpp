// What a run's boundary held, computed from the plan and from what stage two reported after its
// proofs. A part whose proof failed has no entry, because nothing ran.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <pinfold/runner/bounds.hpp>
#include <pinfold/runner/enforced.hpp>
#include <pinfold/sandbox/launch_plan.hpp>

#include "launch/cgroup/find.hpp"

namespace pinfold {

/// What the run's own cgroup holds.
struct held_by_cgroup {
  std::string path;
  controllers limits;
  std::string why_not;  ///< a clause about a limit that it does not hold; empty: none was wanted
};

/// What depended on the machine.
struct obtained_parts {
  std::uint64_t in_stage_two{0};  ///< as reported with `ready` (stage::obtained_...)
  held_by_cgroup cgroup{};
};

[[nodiscard]] std::vector<enforced_property> enforced_by(const launch_plan& plan,
                                                         const resource_limits& limits,
                                                         const obtained_parts& obtained);

}  // namespace pinfold
