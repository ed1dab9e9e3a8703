// What `pinfold explain` says about the bounds of a run, and what would hold them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <pinfold/runner/bounds.hpp>

#include "json/json.hpp"
#include "sandbox/prepare.hpp"

namespace pinfold {

/// The bounds of a planned run, and whether a cgroup would hold those of memory and tasks.
struct bounds_report {
  limits bounds;
  std::optional<std::uint64_t> blob_most;
  std::string cgroup;  ///< below which one would be made; empty: none, or nothing to hold
  std::string why_not;  ///< a clause where there is none and one was wanted
};

/// Only looks: what is in the way when it is tried shows in the record of a run alone.
[[nodiscard]] bounds_report look_at_bounds(const prepared_run& planned, const limits& bounds,
                                           std::uint64_t blob_most);

struct titled_line {
  std::string title;
  std::string value;
};

[[nodiscard]] std::vector<titled_line> lines_of(const bounds_report& report);

/// An object with null for each bound that is not there.
[[nodiscard]] json json_of(const bounds_report& report);

}  // namespace pinfold
