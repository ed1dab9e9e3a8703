// The mount points below a place, from /proc/PID/mountinfo.
#pragma once

#include <cstddef>

namespace pinfold::attach {

class mount_table {
 public:
  /// Reads the whole table from `fd`, a descriptor of mountinfo; gives up through `fail`. `above` is
  /// borrowed.
  mount_table(int fd, const char* above);
  mount_table(const mount_table&) = delete;
  mount_table& operator=(const mount_table&) = delete;
  ~mount_table();

  /// The next mount point strictly below the place, without the kernel's escapes; null after the last.
  const char* next();

 private:
  const char* above_;
  char* text_{nullptr};
  char* at_{nullptr};
};

}  // namespace pinfold::attach
