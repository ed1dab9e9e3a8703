// What stage two must find of a prepared run: which object stands at each place, and on what mount.
#pragma once

#include <expected>
#include <vector>

#include <pinfold/refusal.hpp>

#include "launch/run.hpp"
#include "sandbox/preparation.hpp"

namespace pinfold {

/// The workspace that is held, first; what is pinned, carved out and shown on request; caches and the
/// blob directory. Errors: `workspace_gone` for a place of the workspace that is not there any more,
/// `try_again` for another one.
[[nodiscard]] std::expected<std::vector<place_proof>, refusal> place_proofs_for(
    const preparation& now);

}  // namespace pinfold
