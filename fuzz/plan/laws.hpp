// The laws that every plan keeps, whatever the facts: it is an error, or it is never looser than
// they are.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <pinfold/sandbox/launch_plan.hpp>

namespace pinfold_fuzz {

/// The law that a plan for these facts breaks, with the place, or nothing.
std::optional<std::string> broken_law(const pinfold::confinement& facts,
                                      const pinfold::launch_plan& plan);

}  // namespace pinfold_fuzz
