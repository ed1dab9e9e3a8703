// The carve-outs that tools get: those of mounts, from the same look at the repository.
#pragma once

#include <expected>
#include <string>

#include <pinfold/refusal.hpp>
#include <pinfold/runner/carve_outs.hpp>

#include "sandbox/git_sources.hpp"

namespace pinfold {

/// The engine's default ones, and what `look_at_git` finds in the canonical `workspace`; what it
/// names and is not there yet as well, since a tool can be kept from making it. Nothing is made.
/// Errors: those of `look_at_git`; `workspace_gone` and `permission_denied`.
[[nodiscard]] std::expected<found_carve_outs, refusal> carve_outs_for_tools(
    const std::string& workspace, const git_sources& global);

}  // namespace pinfold
