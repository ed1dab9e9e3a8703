// Whether the mounts that hold a boundary are still there. A program of the host that renames over
// a mount point takes the mount away inside a running sandbox: the kernel says so to whoever watches
// the sandbox's mount table. One that moves the mount point away takes the mount along to its new
// name: the table then reads otherwise, but nobody is told, so the directory itself is watched
// (inotify(7)), and where no watch can be had the table is read again and again.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinfold/disk/descriptor.hpp>

namespace pinfold {

class mount_watch {
 public:
  /// Watches the mount namespace of a process that is alive. `places` are the mount points that must
  /// stay, as the process sees them; those at or below `host_tree` have the same path out here.
  /// Nothing when its table cannot be opened.
  [[nodiscard]] static std::optional<mount_watch> of(pid_t process, std::vector<std::string> places,
                                                     std::string_view host_tree);

  /// Shows POLLPRI when the table has changed since it was last read.
  [[nodiscard]] int table() const noexcept { return table_.get(); }

  /// Shows POLLIN when a place was moved or removed; -1 where that cannot be watched (a user has
  /// 128 watchers as a rule), and `lost` must be asked every `interval`.
  [[nodiscard]] int moves() const noexcept { return moves_.get(); }
  static constexpr std::chrono::milliseconds interval{250};

  /// The first place that is no mount point any more, in the words of the table; "the mount table"
  /// when that cannot be read. Works after the process's end too: the table is held.
  [[nodiscard]] std::optional<std::string> lost();

 private:
  mount_watch(descriptor table, descriptor moves, std::vector<std::string> places)
      : table_{std::move(table)}, moves_{std::move(moves)}, places_{std::move(places)} {}

  descriptor table_;
  descriptor moves_;
  std::vector<std::string> places_;
};

/// The mount points of a text in the form of /proc/PID/mountinfo (proc(5)): the fifth field of each
/// line, its octal escapes undone.
[[nodiscard]] std::vector<std::string> mount_points_in(std::string_view mountinfo);

}  // namespace pinfold
