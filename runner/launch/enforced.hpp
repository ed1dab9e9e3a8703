// What a run's boundary held, computed from the plan and from what stage two reported after its
// proofs. A part whose proof failed has no entry, because nothing ran.
#pragma once

#include <cstdint>
#include <vector>

#include <pinfold/runner/bounds.hpp>
#include <pinfold/runner/enforced.hpp>
#include <pinfold/sandbox/launch_plan.hpp>

namespace pinfold {

/// `obtained` is what stage two reported with `ready` (stage::obtained_...).
[[nodiscard]] std::vector<enforced_property> enforced_by(const launch_plan& plan,
                                                         const resource_limits& limits,
                                                         std::uint64_t obtained);

}  // namespace pinfold
