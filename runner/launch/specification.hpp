// Packing what stage two has to know into one block of bytes (stage_protocol.hpp gives its shape).
#pragma once

#include <string>

#include "launch/run.hpp"

namespace pinfold {

/// What the command's three streams are: what stage two starts with, or a pseudo-terminal that it
/// makes.
enum class stage_streams : bool { as_given, terminal };

/// The specification for a plan. All texts are copied; none may hold a NUL byte but a file's
/// content.
[[nodiscard]] std::string pack_specification(const launch_plan& plan,
                                             const resource_limits& limits, stage_streams streams,
                                             const launch_extras& extras);

}  // namespace pinfold
