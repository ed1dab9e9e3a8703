// What is shown while a command runs.
#pragma once

#include "cli/interruption.hpp"
#include "cli/report.hpp"

namespace pinfold {

/// Runs the plan to its end; its output is passed on in the form that was asked for. `interrupted`
/// ends it, and is raised when nobody reads any more. As events the last line is written too.
[[nodiscard]] run_record run_live(prepared_run ready, const limits& bounds, const manner& how,
                                  const interruption& interrupted);

[[nodiscard]] int descriptor_of(stream which) noexcept;

}  // namespace pinfold
