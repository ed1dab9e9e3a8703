// The mounts below a place, from /proc/PID/mountinfo.
#pragma once

#include <cstddef>

namespace pinfold::attach {

struct mount_line {
  const char* point;     ///< without the kernel's escapes
  const char* options;   ///< of this mount, the first is "ro" or "rw"
  const char* optional;  ///< what it shares with others ("master:12 "), up to "- " and the rest
};

class mount_table {
 public:
  /// Reads the whole table from `fd`, a descriptor of mountinfo; gives up through `fail`. `above` is
  /// borrowed; "" stands for all.
  mount_table(int fd, const char* above);
  mount_table(const mount_table&) = delete;
  mount_table& operator=(const mount_table&) = delete;
  ~mount_table();

  /// The next mount strictly below the place, valid until the call after it; null after the last.
  const mount_line* next();

 private:
  const char* above_;
  char* text_{nullptr};
  char* at_{nullptr};
  mount_line line_{};
};

}  // namespace pinfold::attach
