// What was decided about one run, by the engine alone: for its record, for `explain`, and for the
// parts of the preparation that depend on it.
#pragma once

#include <string>

#include <pinfold/caches.hpp>
#include <pinfold/network.hpp>
#include <pinfold/runner/request.hpp>
#include <pinfold/sandbox/confinement.hpp>
#include <pinfold/settings.hpp>
#include <pinfold/taint.hpp>

namespace pinfold {

/// Asked for and decided, side by side. `ask` counts as no: nobody is asked here; the harness asks,
/// and starts the run again with a wider gate.
struct decided_run {
  mode present{mode::autonomous};
  gate open{gate::off};
  taint before;  ///< what the session had taken in
  taint after;   ///< with what the run took in; as before it when it never started
  decision network{decision::deny};
  cache_choice caches{cache_choice::none};  ///< in force: `own` only where one can be kept
  std::string cache_directory;              ///< what holds the workspace's own caches, or empty
};

/// The plain answer that parts of the machine depend on, such as the files of a resolver. With an
/// egress list it is no: what is on the list is reached through the proxy, which resolves by itself.
[[nodiscard]] inline network_access network_of(const run_request& request) noexcept {
  const bool is_open = network_allowed(request.open, request.present, request.labels);
  return is_open && !request.egress.is_any() ? network_access::on : network_access::off;
}

/// Whether an egress list is in force: one was asked for, and the network is open at this moment.
[[nodiscard]] inline bool has_egress(const run_request& request) noexcept {
  return network_allowed(request.open, request.present, request.labels) && request.egress.is_any();
}

/// What the engine says about a request before anything is looked at: mode, gate, labels, network.
[[nodiscard]] inline decided_run decided_about(const run_request& request) {
  decided_run decided;
  decided.present = request.present;
  decided.open = request.open;
  decided.before = decided.after = request.labels;
  decided.network = decide_network(request.open, request.present, request.labels);
  return decided;
}

}  // namespace pinfold
