// The command's environment: a short list of names, and what the caller adds by name. It must never
// inherit anything else.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/refusal.hpp>
#include <pinfold/runner/request.hpp>

#include "sandbox/caller.hpp"

namespace pinfold {

/// Whether a command finds the workspace's own tools, and finds them first.
enum class workspace_tools : bool { left_out, first_in_path };

/// NAME=VALUE entries: PATH (the workspace's .local/bin first, then the absolute entries of the
/// caller's; with `left_out` no entry that lies in the workspace, by its name or where it leads), HOME, and of the caller's LANG, LC_*, TERM, TZ, USER, LOGNAME, SHELL; then `own`, entries
/// of the runner's; then what was asked for by name, which overrules. Error `invalid_argument`: a name that is none, or one asked
/// for that the caller does not have.
[[nodiscard]] std::expected<std::vector<std::string>, refusal> command_environment(
    const caller& who, std::string_view workspace, std::string_view home,
    const std::vector<environment_request>& asked, const std::vector<std::string>& own = {},
    workspace_tools tools = workspace_tools::first_in_path);

}  // namespace pinfold
