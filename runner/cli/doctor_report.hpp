// What `pinfold doctor` says: does the kernel hold the boundary here, and what is not promised.
// Text only; it asks nothing and prints nothing.
#pragma once

#include <string>

#include "json/json.hpp"
#include "sandbox/probe.hpp"

namespace pinfold {

/// The report as a table for a terminal: one line for each probe, the fix below each failed one,
/// then what is promised and what is not. Foreign bytes are shown, never obeyed.
[[nodiscard]] std::string doctor_table(const probe_report& report);

/// The report as one object: `usable`, `bwrap` (its path or null), `probes` (each with `id`,
/// `status`, `found`, `fix`, null where there is none), `promised`, `not_promised` (each a list of
/// `id` and `sentence`).
[[nodiscard]] json doctor_json(const probe_report& report);

}  // namespace pinfold
