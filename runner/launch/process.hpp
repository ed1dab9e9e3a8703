// Starting one process: the only place in the project that does. posix_spawn, never fork: the
// embedding program may be large and have threads.
#pragma once

#include <sys/types.h>

#include <expected>
#include <span>
#include <string>
#include <vector>

#include <pinfold/disk/descriptor.hpp>

namespace pinfold {

/// A descriptor of this process and the number that it gets in the new one.
struct passed_descriptor {
  int from;
  int to;
};

struct process_image {
  std::string program;  ///< absolute path; nothing is searched
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
};

/// A started process and a descriptor that becomes readable when it has ended.
struct process {
  pid_t pid{-1};
  descriptor ended;
};

/// Starts a process in a session of its own, with an empty signal mask, default signals, and no
/// descriptors but those passed: their numbers must be 0 upwards without a gap. Error: an errno.
[[nodiscard]] std::expected<process, int> spawn(const process_image& image,
                                                std::span<const passed_descriptor> passed);

/// Waits for a started process, whose pidfd must be readable or who was killed, and for no other: by
/// its pidfd (Linux 5.4). A program that ignores SIGCHLD or waits for whatever ends has had it before;
/// that is no error here.
void reap(const process& child) noexcept;

void kill_now(const descriptor& process_descriptor) noexcept;

}  // namespace pinfold
