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
  auto network = network_of(request) == network_access::on ? reach::network : reach::offline;
  if (has_egress(request)) network = reach::listed;
  return request.labels | taint_of_command(boundary, network, checkout::trusted);
}

}  // namespace pinfold
