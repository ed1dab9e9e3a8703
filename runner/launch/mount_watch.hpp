// Whether the mounts that hold a boundary are still there. A program of the host that renames over
// a mount point takes the mount away inside a running sandbox: the kernel says so to whoever watches
// the sandbox's mount table. One that moves the mount point away takes the mount along to its new
// name: the table then reads otherwise, but nobody is told, so the place is looked at again and
// again. (inotify would tell, but giving up a watch costs more than a whole start: 15 ms on 6.18.)
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/disk/kernel.hpp>

namespace pinfold {

class mount_watch {
 public:
  /// How often a place that may be moved away is looked at: some microseconds each time.
  static constexpr std::chrono::milliseconds interval{100};

  /// Watches the mount namespace of a process that is alive. `places` are the mount points that must
  /// stay, as the process sees them; those at or below `host_tree` have the same path out here.
  /// Nothing when its table cannot be opened.
  [[nodiscard]] static std::optional<mount_watch> of(pid_t process, std::vector<std::string> places,
                                                     std::string_view host_tree);

  /// Shows POLLPRI when the table has changed since it was last read.
  [[nodiscard]] int table() const noexcept { return table_.get(); }

  /// True when it is time to look at the places again: at most once in a quarter of `interval`, since
  /// a command that floods its output wakes whoever watches it ten thousand times a second.
  [[nodiscard]] bool is_due() noexcept;

  /// True when a place out here is another object than it was, or gone.
  [[nodiscard]] bool has_moved() const noexcept;

  /// The first place that is no mount point any more, in the words of the table; "the mount table"
  /// when that cannot be read. Works after the process's end too: the table is held.
  [[nodiscard]] std::optional<std::string> lost() const;

 private:
  struct seen_place {
    std::string path;
    beneath::identity id;
  };
  mount_watch(descriptor table, std::vector<std::string> places, std::vector<seen_place> seen)
      : table_{std::move(table)}, places_{std::move(places)}, seen_{std::move(seen)} {}

  descriptor table_;
  std::vector<std::string> places_;
  std::vector<seen_place> seen_;
  std::chrono::steady_clock::time_point looked_{};
};

/// The mount points of a text in the form of /proc/PID/mountinfo (proc(5)): the fifth field of each
/// line, its octal escapes undone.
[[nodiscard]] std::vector<std::string> mount_points_in(std::string_view mountinfo);

}  // namespace pinfold
