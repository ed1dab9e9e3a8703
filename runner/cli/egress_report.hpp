// What `pinfold explain` says about the egress of a run.
#pragma once

#include <string>
#include <vector>

#include "json/json.hpp"
#include "cli/limits_report.hpp"
#include "sandbox/prepare.hpp"

namespace pinfold {

/// What is reachable and within which limits, and why there is no resolver inside; that the list
/// waits, where the gate is closed; nothing where none was asked for.
[[nodiscard]] std::vector<titled_line> egress_lines(const prepared_run& planned,
                                                    const egress_request& asked);

/// Null where no list is in force; else `list`, `loopback`, `proxy`, `server_names` ("required" or
/// "optional"), `connections`, `idle_ms`, `time_ms`, `bytes` (null without a limit).
[[nodiscard]] json egress_plan_json(const prepared_run& planned);

}  // namespace pinfold
