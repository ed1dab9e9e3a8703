// Commands under a grant, for programs that embed pinfold: one object, one call. It decides nothing
// of its own and weakens nothing: what cannot be confined is refused.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinfold/refusal.hpp>
#include <pinfold/runner/bounds.hpp>
#include <pinfold/runner/carve_outs.hpp>
#include <pinfold/runner/record.hpp>
#include <pinfold/runner/request.hpp>
#include <pinfold/runner/running.hpp>
#include <pinfold/runner/sinks.hpp>
#include <pinfold/sandbox/launch_plan.hpp>
#include <pinfold/settings.hpp>

namespace pinfold {

struct caller;

/// Runs commands for one caller. Cheap to copy; every member may be called from several threads at
/// once. It installs no signal handler and changes no global of the program: no umask, no working
/// directory, no environment. SIGCHLD is left alone, whatever the program does with it: a child of
/// ours is known by its pidfd and waited for by that alone. A start costs the same whatever the size
/// of the program (posix_spawn), and each run has about ten descriptors open.
class runner {
 public:
  /// `environment` holds the caller's NAME=VALUE entries (a program passes its own `environ`); of
  /// these a command gets only what its request names and a short list (README, "What a command
  /// gets"). Looks at the homes that have to be hidden, once. Error: SandboxUnavailable.
  [[nodiscard]] static std::expected<runner, refusal> for_caller(
      std::vector<std::string> environment);

  /// Runs one command in bubblewrap, to its end. Blocks. At return nothing of its process tree is
  /// alive and the workspace is as the command left it. Whatever stops it from starting is in the
  /// record: `ended` is `refused` and `error` says why; it never runs with less than was asked for. A
  /// record in each case and no `expected`: a run that is lost after its start (BoundaryLost, RunLost)
  /// has an error and an output, and one place to look for errors is enough.
  /// Throws what a sink threw, once the run is cancelled and over.
  [[nodiscard]] run_record run(const run_request& request, const limits& bounds,
                               const sinks& events = {}) const;

  /// The same command without a boundary, with a clean environment and a home of its own that is
  /// gone afterwards. The token says that the harness wants it so.
  [[nodiscard]] run_record run(const run_request& request, const limits& bounds, unconfined token,
                               const sinks& events = {}) const;

  /// The same on a thread of its own, with nothing waited for: what `run` would refuse is in the
  /// record. What the sinks refer to must live until the end. Error: ResourceExhausted.
  [[nodiscard]] std::expected<running, refusal> start(run_request request, limits bounds,
                                                      sinks events = {}) const;
  [[nodiscard]] std::expected<running, refusal> start(run_request request, limits bounds,
                                                      unconfined token, sinks events = {}) const;

  /// The carve-outs of a workspace for the harness's own tools: the engine's default ones, and what
  /// git on the host obeys in this workspace beside them, as `run` finds it for mounts (included
  /// files, directories of hooks, submodules, repositories that lie elsewhere in it). For
  /// `workspace::open` and `grant`; as it is now, so ask again where the repository has changed.
  /// Errors: CarveOutUnusable, NotEnforceable (too much to read), WorkspaceTooBroad (the runner's own
  /// places are there, or it lies in them), and those of `canonical_workspace`.
  [[nodiscard]] std::expected<found_carve_outs, refusal> carve_outs(
      std::string_view workspace) const;

  /// What `run` would start, without making anything.
  [[nodiscard]] std::expected<launch_plan, refusal> plan(const run_request& request) const;

 private:
  explicit runner(std::shared_ptr<const caller> who) noexcept : who_{std::move(who)} {}

  std::shared_ptr<const caller> who_;
};

/// The record of a run that never started.
[[nodiscard]] run_record refused_record(const run_request& request, refusal why,
                                        backend_name asked = backend_name::bubblewrap);

}  // namespace pinfold
