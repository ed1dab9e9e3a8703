// From what the harness asks for to a plan that can be run: the caller, the disk and the grant are
// looked at, the workspace is locked, and what is missing is made. Refuses before anything starts.
#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <string>

#include <pinfold/refusal.hpp>
#include <pinfold/runner/request.hpp>
#include <pinfold/sandbox/bubblewrap.hpp>
#include <pinfold/sandbox/launch_plan.hpp>

#include "launch/run.hpp"
#include "sandbox/blob_directory.hpp"
#include "sandbox/caller.hpp"
#include "sandbox/command_environment.hpp"
#include "sandbox/git_commit/commits.hpp"
#include "sandbox/harness_state.hpp"
#include "sandbox/host_run.hpp"
#include "sandbox/temporary_directory.hpp"

namespace pinfold {

/// The home that a confined command sees; it lies in the sandbox's own /tmp.
inline constexpr std::string_view confined_home = "/tmp/home";

/// A plan, what has to live as long as its run (the workspace's lock, a temporary home, the blob
/// directory), and what was decided about it.
struct prepared_run {
  launch_plan plan;
  launch_extras extras;
  std::optional<workspace_lock> lock;
  std::optional<temporary_directory> home;
  std::optional<host_run_search> later;  ///< where the command can have left something
  std::optional<blob_directory> blobs;
  std::optional<egress_request> egress;  ///< where a list is in force
  std::optional<commits> committing;     ///< where the command may commit
  decided_run decided;
  /// Called last, when the lock is given up; may add to the record.
  std::function<void(run_record&)> afterwards{};
};

/// The canonical workspace of a confined run. Refuses one that is too broad, or that holds or lies
/// in the runner's own places (own_places.hpp), before anything else is asked.
[[nodiscard]] std::expected<std::string, refusal> confined_workspace(const run_request& request,
                                                                     const caller& who);

/// The bwrap that may be trusted with this request's workspace, or why none may.
[[nodiscard]] std::expected<bubblewrap, refusal> backend_for(const run_request& request,
                                                             const caller& who);

/// Ready to run under bubblewrap, as the engine decides for the mode, the gate and the labels of
/// the request. Makes absent harness state, absent files of git's own and the workspace's caches.
[[nodiscard]] std::expected<prepared_run, refusal> prepare_confined(const run_request& request,
                                                                    const caller& who,
                                                                    const bubblewrap& backend);

/// The same plan without touching the disk, nothing held and nothing to prove: what `pinfold
/// explain` prints.
[[nodiscard]] std::expected<prepared_run, refusal> plan_confined(const run_request& request,
                                                                 const caller& who,
                                                                 const bubblewrap& backend);

/// Ready to run without any boundary: the clean environment of a confined run and a private home,
/// gone at the end. For `--no-sandbox` only, which is the harness's word that it may be; the
/// guard's answer stands all the same: `mode_forbids_writing` in mode plan, `needs_approval` in
/// mode ask. PATH has no entry in the workspace, and `bash` by that name is the host's own
/// (host/shell.hpp): nothing that was written there runs in place of what was approved. Errors:
/// `not_enforceable` for whatever needs a boundary, those of `check_own_places` and `host_bash`.
[[nodiscard]] std::expected<prepared_run, refusal> prepare_unconfined(const run_request& request,
                                                                      const caller& who);

/// Runs what was prepared, to its end, puts what was decided into the record, and looks at what it
/// left for programs of the host; then the lock and the home are given up. Blocks, as `run` does.
[[nodiscard]] run_record run_prepared(prepared_run ready, const limits& bounds,
                                      const sinks& events);

/// Ready to run as a gate: no boundary, the caller's whole environment.
[[nodiscard]] std::expected<prepared_run, refusal> prepare_gate(
    const run_request& request, const caller_environment& environment, workspace_tools tools);

}  // namespace pinfold
