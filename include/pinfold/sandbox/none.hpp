// The backend that confines nothing, under its own name: choosing it is how a caller says so aloud.
// It must never stand in for another backend, and it refuses every fact that it would have to drop.
#pragma once

#include <expected>
#include <string>
#include <utility>

#include <pinfold/sandbox/launch_plan.hpp>

namespace pinfold {

struct none_backend {
  /// The plan: the command itself, its environment and its directory. Error `not_enforceable`,
  /// naming the fact, for a confinement that asks for any boundary at all.
  [[nodiscard]] constexpr std::expected<launch_plan, refusal> wrap(const confinement& facts) const {
    const auto refuse = [](std::string fact) {
      return std::unexpected{not_enforceable(std::move(fact), backend_name::none)};
    };
    if (facts.command.empty()) return refuse("an empty command");
    if (facts.network == network_access::off) return refuse("network off");
    if (facts.access == workspace_access::read_only) return refuse("a read-only workspace");
    if (facts.root == root_profile::minimal) return refuse("root minimal");
    if (!facts.carve_outs.empty() || !facts.pinned.empty()) return refuse("carve-outs");
    if (!facts.hidden.empty() || !facts.hidden_files.empty()) return refuse("hidden places");
    if (!facts.shared.empty()) return refuse("shared paths");
    if (!facts.visible.empty()) return refuse("visible paths");
    if (!facts.egress.empty()) return refuse("an egress list");
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
