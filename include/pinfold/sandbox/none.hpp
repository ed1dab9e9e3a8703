// The backend that confines nothing, under its own name: choosing it is how a caller says so aloud.
// It must never stand in for another backend, and it refuses every fact that it would have to drop.
#pragma once

#include <expected>
#include <string_view>

#include <pinfold/sandbox/launch_plan.hpp>

namespace pinfold {

namespace detail {

/// The first fact that needs a boundary, or nothing.
constexpr std::string_view fact_beyond_none(const confinement& facts) {
  if (facts.command.empty()) return "an empty command";
  if (facts.network == network_access::off) return "network off";
  if (facts.access == workspace_access::read_only) return "a read-only workspace";
  if (facts.root == root_profile::minimal) return "root minimal";
  if (!facts.carve_outs.empty() || !facts.pinned.empty()) return "carve-outs";
  if (!facts.hidden.empty() || !facts.hidden_files.empty()) return "hidden places";
  if (!facts.replaced.empty() || !facts.covered.empty()) return "replaced paths";
  if (!facts.shared.empty()) return "shared paths";
  if (!facts.visible.empty()) return "visible paths";
  if (!facts.egress.empty()) return "an egress list";
  return {};
}

}  // namespace detail

/// The backend without any boundary, for what is run unconfined on purpose and by name.
struct none_backend {
  /// The plan: the command itself, its environment and its directory. Error `not_enforceable`,
  /// naming the fact, for a confinement that asks for any boundary at all.
  [[nodiscard]] constexpr std::expected<launch_plan, refusal> wrap(const confinement& facts) const {
    if (const auto fact = detail::fact_beyond_none(facts); !fact.empty()) {
      return std::unexpected{not_enforceable(fact, backend_name::none)};
    }
    launch_plan plan;
    plan.command = facts.command;
    plan.environment = facts.environment;
    plan.directory = facts.directory;
    plan.workspace = facts.workspace;
    plan.network = network_access::on;
    return plan;
  }
};

}  // namespace pinfold
