// From a plan to a process that waits for its go: descriptors, memory files, the argument vector.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "launch/attacher.hpp"
#include "launch/process.hpp"
#include "launch/run.hpp"

namespace pinfold {

/// A started sandbox (or, for backend `none`, stage two itself) and the runner's ends of its pipes.
struct started_stage {
  process child;
  descriptor channel;  ///< SOCK_SEQPACKET, non-blocking
  descriptor out;      ///< non-blocking
  descriptor err;      ///< non-blocking
  descriptor in;       ///< non-blocking, where there is an input through a pipe
  descriptor in_held;  ///< its other end: while it is held no write raises SIGPIPE
  descriptor info;     ///< mailbox: what bwrap says about its child; none for backend `none`
  std::vector<std::string> mounts;  ///< the mount points that hold the boundary
  std::optional<attacher> attaches;  ///< where the plan has mounts to attach
};

/// Starts the plan up to the point where stage two waits. Error: a refusal (`sandbox_unavailable`,
/// `resource_exhausted`); nothing is left then.
[[nodiscard]] std::expected<started_stage, refusal> start_stage(const launch_plan& plan,
                                                                const resource_limits& limits,
                                                                const sinks& events,
                                                                const launch_extras& extras);

/// A refusal of the runner's own, about executing the plan's command.
[[nodiscard]] refusal runner_refusal(const launch_plan& plan, code error, std::string detail);

}  // namespace pinfold
