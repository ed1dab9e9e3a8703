// What is asked of a cgroup v2 file system and done to it, one call each (cgroup-v2.rst of the
// kernel). No name is ever followed through a link. The calls that only a real one answers are
// virtual: a test puts a directory tree in its place.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <pinfold/disk/descriptor.hpp>

namespace pinfold {

class cgroup_files {
 public:
  virtual ~cgroup_files() = default;

  /// Whether an open directory is one of cgroup v2: by the file system's own number, not its place.
  [[nodiscard]] virtual bool is_cgroup2(int directory) const noexcept;

  /// Whether a service manager has marked a cgroup as given away to whoever runs in it: systemd's
  /// `trusted.delegate`, which root alone can read, and `user.delegate` (systemd 251).
  [[nodiscard]] virtual bool is_marked_delegated(int directory) const noexcept;

  /// Makes or removes a cgroup below an open one. 0, or an errno: a cgroup with a process or a cgroup
  /// in it cannot be removed (EBUSY).
  [[nodiscard]] virtual int make(int parent, const char* name) const noexcept;
  [[nodiscard]] virtual int remove(int parent, const char* name) const noexcept;

  /// Writes one word to a control file, in one call. 0, or an errno.
  [[nodiscard]] virtual int write(int cgroup, const char* file, std::string_view word) const noexcept;
};

/// The kernel's own.
[[nodiscard]] const cgroup_files& kernel_cgroup_files() noexcept;

/// All of a control file; nothing when it cannot be read.
[[nodiscard]] std::optional<std::string> read_control(int cgroup, const char* file);

/// The number behind `key` in a file of "key number" lines (cgroup.events, memory.events); 0 when it
/// is not there.
[[nodiscard]] unsigned long long number_in(std::string_view text, std::string_view key) noexcept;

}  // namespace pinfold
