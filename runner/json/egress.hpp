// What came of the egress of a run, as JSON.
#pragma once

#include <optional>

#include <pinfold/runner/egress.hpp>

#include "json/json.hpp"

namespace pinfold {

/// `host`, `port`, `protocol`, `address` (null when nothing was connected to), `refusal` (null or an
/// object), `sent`, `received`, `started_ms` (since the run's proxy began), `duration_ms`.
[[nodiscard]] json to_json(const egress_attempt& attempt);

/// Null where no list was in force; else `list`, `attempts`, `more` (that are not listed), `sent`,
/// `received`.
[[nodiscard]] json egress_or_null(const std::optional<egress_report>& report);

}  // namespace pinfold
