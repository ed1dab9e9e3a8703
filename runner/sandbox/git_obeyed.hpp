// What a repository's configuration names in the workspace: files that git includes, the directory
// that it takes hooks from, programs that it runs.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/refusal.hpp>

#include "sandbox/git_state.hpp"

namespace pinfold {

/// Adds to `state` what the configuration text names below the workspace:
///  - `core.hooksPath` (the last one; else `global_hooks_path`, which may be empty): a carve-out when
///    the directory is there, else `hooks_path` alone, for the report after the run;
///  - `include.path` and `includeIf.*.path`: a carve-out each;
///  - any other setting that git obeys and that names a file: `obeyed`, for the report.
/// The directories on the way to a carve-out are pinned. Error `carve_out_unusable`: an included
/// file that is not there, or either of the first two reached through a link, since whoever
/// replaces the link replaces what git obeys.
[[nodiscard]] std::expected<void, refusal> add_what_is_obeyed(git_state& state,
                                                              const std::string& workspace,
                                                              std::string_view configuration,
                                                              std::string_view global_hooks_path);

}  // namespace pinfold
