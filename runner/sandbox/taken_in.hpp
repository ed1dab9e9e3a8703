// What a run takes in, by the engine's own word.
#pragma once

#include <pinfold/intake.hpp>
#include <pinfold/runner/decided.hpp>
#include <pinfold/settings.hpp>
#include <pinfold/taint.hpp>

namespace pinfold {

/// The labels of the session once a command has run.
[[nodiscard]] inline taint labels_after(const run_request& request,
                                           enforcement boundary) noexcept {
  const bool is_open = network_allowed(request.open, request.present, request.labels);
  const auto network = is_open ? reach::network : reach::offline;  // through a list as well
  return request.labels | taint_of_command(boundary, network, checkout::trusted);
}

}  // namespace pinfold
