// Running a prepared plan and telling the caller what came of it, in text, as JSON, or as events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <pinfold/refusal.hpp>
#include <pinfold/runner/request.hpp>

#include "json/json.hpp"
#include "launch/run.hpp"
#include "sandbox/prepare.hpp"

namespace pinfold {

/// `in_text_with_enforced` says after the run, on stderr, how far each part of the boundary was held.
enum class report_form : std::uint8_t { in_text, in_text_with_enforced, as_json, as_events };

/// What the command has of the caller's stdin: nothing; its bytes; or all of a terminal, by one of
/// its own.
enum class attachment : std::uint8_t { nothing, input, terminal };

/// How a run is shown, and to whom.
struct manner {
  report_form form{report_form::in_text};
  record_role role{record_role::run};
  attachment attached{attachment::nothing};  ///< `terminal` with the text forms alone
  std::string term;                          ///< the caller's TERM and NO_COLOR, for the status line
  std::string no_color;
};

/// With the caller's TERM and NO_COLOR.
[[nodiscard]] manner manner_of(report_form form, record_role role,
                               const caller_environment& environment);

/// Runs the plan, ends it on SIGINT or SIGTERM, reports, and gives the program's exit code. `what`
/// is the subcommand, for messages.
[[nodiscard]] int run_and_report(std::string_view what, prepared_run ready, const limits& bounds,
                                 const manner& how);

/// Reports a refusal from before the start, as a record where JSON was asked for; the exit code.
/// `asked` is the backend that would have been used; `worktree` what became of the run's own.
[[nodiscard]] int report_refusal(std::string_view what, const run_request& request, refusal refused,
                                 report_form form, backend_name asked,
                                 record_role role = record_role::run,
                                 std::optional<finished_worktree> worktree = std::nullopt);

}  // namespace pinfold
