// The workspace's lock and the harness's state directories: what is absent is made before a run, so
// that bwrap never creates anything below the workspace, and taken away after the last one.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/refusal.hpp>

#include <pinfold/disk/descriptor.hpp>

namespace pinfold {

/// The workspace directory, held open, with a shared lock on it. While any run holds the lock (its
/// sandbox holds it too), no state directory is removed.
///
/// At the end of its life the lock is given up, and whoever then gets it exclusively removes the
/// directories that carry our mark (the extended attribute `user.pinfold`) and are empty. A
/// directory that the harness made is never removed: it has no mark.
class workspace_lock {
 public:
  /// Takes the shared lock on the canonical workspace. Errors: `permission_denied`,
  /// `workspace_gone`, `resource_exhausted`.
  [[nodiscard]] static std::expected<workspace_lock, refusal> take(const std::string& workspace);

  workspace_lock(workspace_lock&&) noexcept = default;
  workspace_lock& operator=(workspace_lock&&) = delete;
  ~workspace_lock();

  [[nodiscard]] int directory() const noexcept { return directory_.get(); }

  /// Makes sure that each name (one component) is a directory in the workspace. An absent one is
  /// made empty and marked, in one step as others see it. Errors: `carve_out_unusable` for a link
  /// or a file of that name, and where the file system keeps no such mark.
  [[nodiscard]] std::expected<void, refusal> ensure(std::string_view name);

 private:
  workspace_lock(std::string workspace, descriptor directory)
      : workspace_{std::move(workspace)}, directory_{std::move(directory)} {}
  [[nodiscard]] refusal unusable(std::string_view name, std::string why) const;
  [[nodiscard]] std::expected<void, refusal> make_marked(std::string_view name);

  std::string workspace_;
  descriptor directory_;
  std::vector<std::string> names_;  ///< what this run relies on, to be looked at when it is over
};

/// Files of harness state that have another name somewhere.
struct linked_state {
  std::vector<std::string> files;  ///< relative to the workspace; at most ten
  bool is_whole{true};             ///< false: not everything was looked at
};

/// Looks through the harness state below the open `workspace`, at `most` names at the outside.
[[nodiscard]] linked_state hard_linked_state(int workspace, std::size_t most = 20'000);

}  // namespace pinfold
