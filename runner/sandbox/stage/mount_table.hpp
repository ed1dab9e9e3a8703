// The mounts of a namespace, from /proc/PID/mountinfo.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pinfold::attach {

struct mount_line {
  std::uint64_t id;
  const char* point;     ///< without the kernel's escapes
  const char* options;   ///< of this mount, the first is "ro" or "rw"
  const char* optional;  ///< what it shares with others ("master:12"), or "-"

  /// Read-only, or at or below one of these places.
  [[nodiscard]] bool is_as_meant(const char* const* open, std::uint32_t count) const;
};

class mount_table {
 public:
  /// Reads the whole table from `fd`, a descriptor of mountinfo; gives up through `fail`.
  explicit mount_table(int fd);
  mount_table(const mount_table&) = delete;
  mount_table& operator=(const mount_table&) = delete;
  ~mount_table();

  /// The next mount, valid until the call after it; null after the last.
  const mount_line* next();

 private:
  char* text_{nullptr};
  char* at_{nullptr};
  mount_line line_{};
};

[[nodiscard]] bool is_at_or_below(const char* path, const char* place);

/// The id of the mount that `path` (relative to `fd`, "" for itself) leads to, through no last link; 0
/// and errno when it leads nowhere.
[[nodiscard]] std::uint64_t mount_at(int fd, const char* path);

}  // namespace pinfold::attach
