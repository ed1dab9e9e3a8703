// Where a command starts, for every way of running one.
#pragma once

#include <expected>
#include <string>

#include <pinfold/refusal.hpp>
#include <pinfold/runner/request.hpp>

namespace pinfold {

/// The canonical directory in which the request's command starts: the canonical workspace's top, or
/// what was asked for, through the same resolver as tool paths, since a model may have chosen it.
/// Errors: those of the resolver; `not_a_directory`.
[[nodiscard]] std::expected<std::string, refusal> start_directory(const run_request& request,
                                                                  const std::string& workspace);

}  // namespace pinfold
