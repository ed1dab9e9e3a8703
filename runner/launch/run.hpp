// The one launcher: applies a launch plan, keeps time, output and processes bounded, and says what
// came of it. It never decides what a command may do, installs no signal handler and touches no
// global of the embedding program.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/runner/bounds.hpp>
#include <pinfold/runner/record.hpp>
#include <pinfold/runner/sinks.hpp>

#include "launch/blob.hpp"
#include "launch/cgroup/find.hpp"

namespace pinfold {

/// A file that stage two makes before the command starts, in a directory that the plan made.
struct made_file {
  std::string path;
  std::string content;
};

/// What a place must be when it is seen from inside, before the command starts.
struct place_proof {
  enum class identity : bool { any, same };
  enum class mount : bool { any, read_only };
  std::string path;
  std::uint64_t device{0};
  std::uint64_t inode{0};
  identity object{identity::same};
  mount state{mount::any};
  /// Whether the run ends when the mount at this place goes: not for what a program of the host puts anew
  /// in its place (a socket), where nothing of the boundary is lost with it.
  bool is_watched{true};
};

enum class core_dumps : bool { forbidden, as_the_caller };

/// What the launcher needs beside the plan.
struct launch_extras {
  std::vector<made_file> files;
  /// Borrowed descriptors that live as long as the sandbox does (the workspace's lock); the command
  /// never sees them.
  std::vector<int> held;
  /// The workspace first, then its carve-outs and pinned directories.
  std::vector<place_proof> proofs;
  /// Whether the first proof must be writable with the privileges that the command has.
  workspace_access access{workspace_access::read_only};
  core_dumps cores{core_dumps::forbidden};
  /// Where a stream that is more than what is kept goes as a whole.
  blob_place blobs;
  /// Where a cgroup for the limits is looked for.
  cgroup_search cgroups{};
  /// Borrowed; cancels like the caller's own in `sinks`.
  int cancelled{-1};
  /// Ports of the loopback inside on which stage two listens; at most `stage::most_listeners`.
  std::vector<std::uint16_t> listeners;
  /// Gets a listening socket for each of them, in their order, before the command starts; nobody else
  /// has them then. What it answers with keeps the command from starting.
  std::function<std::optional<refusal>(std::vector<descriptor>)> when_listening;
  /// Borrowed; whenever it is readable while the command runs `when_news` is called, on the run's
  /// thread, and must read it. Negative: there is none.
  int news{-1};
  std::function<void()> when_news;
  /// Called once while bwrap makes the boundary, when there is nothing to do here.
  std::function<void()> meanwhile;
  /// Called once when a command that could have run is over and every process inside is gone, with
  /// the record as it stands; bwrap's own end comes later, so that what is done here costs no time of
  /// its own. Never called when the command was not started.
  std::function<void(const run_record&)> when_gone;
};

/// Runs one plan to its end. Blocks. At return nothing of the command's process tree is alive and
/// every descriptor made here is closed. A failure to start is a record too (`refused`, with
/// `error`). Thread-safe. Throws what a sink threw, once the run is cancelled and over.
[[nodiscard]] run_record run(const launch_plan& plan, const limits& bounds,
                             const sinks& events = {}, const launch_extras& extras = {});

}  // namespace pinfold
