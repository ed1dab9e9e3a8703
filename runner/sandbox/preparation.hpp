// One preparation of a confined run under way: what its steps share. No part of the interface.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/refusal.hpp>
#include <pinfold/runner/request.hpp>
#include <pinfold/sandbox/confinement.hpp>

#include "sandbox/blob_directory.hpp"
#include "sandbox/caches.hpp"
#include "sandbox/caller.hpp"
#include "sandbox/git_commit/commits.hpp"
#include "sandbox/harness_state.hpp"
#include "sandbox/host_run.hpp"

namespace pinfold {

/// Whether what is missing is made.
enum class making : bool { left_out, made };

/// One preparation under way: the canonical workspace, held open, and what is known so far. What a
/// guard has to decide about (roots, caches) stays apart from the facts until it has.
struct preparation {
  const run_request& request;
  const caller& who;
  making missing;
  std::string workspace;
  confinement facts;
  host_run_search later;            ///< what the walk after the end has to know
  std::vector<std::string> obeyed;  ///< what it looks at again, by name
  std::optional<workspace_lock> lock;
  descriptor looked_at;  ///< the workspace, when there is no lock
  std::vector<std::string> read_roots;
  std::optional<blob_directory> blobs;
  std::vector<cache_place> caches;
  std::string cache_directory;  ///< what holds the workspace's own; empty when it has none
  std::optional<commits> committing;  ///< where the command may commit

  [[nodiscard]] int directory() const noexcept {
    return lock ? lock->directory() : looked_at.get();
  }
};

using step = std::expected<void, refusal>;

[[nodiscard]] inline refusal refused(code error, std::string path, std::string detail) {
  return refusal{.error = error,
                 .op = operation::execute,
                 .path = std::move(path),
                 .resolved = {},
                 .boundary = {},
                 .detail = std::move(detail)};
}

/// Hidden places, the visible tree and the read roots.
[[nodiscard]] step add_places(preparation& now);

/// The repository outside that `.git` leads to, and what a command that may commit in it needs.
[[nodiscard]] step add_repository(preparation& now);

/// Hides a directory of the runner's own that no run may see, but for what is shown of it by itself.
/// Error `invalid_argument` with this reason where a read root or the blob directory overlaps it.
[[nodiscard]] step close_own_place(preparation& now, const std::string& place, std::string_view why);

/// The blob directory, opened.
[[nodiscard]] step add_blob_directory(preparation& now);

/// The caches, made where they are the workspace's own: the last step that touches the disk.
[[nodiscard]] step add_caches(preparation& now);

/// From what is known to what the engine decided: the one place where a guard is asked about a
/// confined run.
[[nodiscard]] step decide(preparation& now);

}  // namespace pinfold
