// What the launcher and stage two say to each other: fixed descriptors, one message shape, one
// packed specification. Both sides are built from this file, so there is no version to negotiate;
// `stage_magic` only keeps a wrong file from being read as a specification.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace pinfold::stage {

/// The descriptors stage two starts with; everything else is closed before it runs.
inline constexpr int spec_fd = 3;     ///< sealed memfd: the specification
inline constexpr int channel_fd = 4;  ///< SOCK_SEQPACKET to the runner, both ways
inline constexpr int image_fd = 5;    ///< sealed memfd: stage two itself
inline constexpr int args_fd = 6;     ///< bwrap's --args; bwrap closes it
inline constexpr int info_fd = 7;     ///< bwrap's --info-fd; bwrap closes it
inline constexpr int held_fd = 8;     ///< first of the descriptors that only have to stay open

/// Runner to stage two, one byte each. End of file means the runner is gone: kill and exit.
inline constexpr char go = 'g';         ///< start the command
inline constexpr char terminate = 't';  ///< SIGTERM to the command's process group
inline constexpr char kill = 'k';       ///< SIGKILL to everything

/// Stage two to runner.
enum class report : std::uint32_t {
  ready,        ///< everything before the command is done; waits for `go`
  failed,       ///< `value` is an errno, `extra` the step (enum class step): gives up
  started,      ///< the command runs
  not_started,  ///< the command could not be executed; `value` is the errno
  ended,        ///< `value` is the wait status, `extra` the number of processes killed after it
};

/// What stage two does before it is ready; named in refusals.
enum class step : std::uint64_t {
  read_specification,
  close_descriptors,
  forbid_tracing,
  die_with_bwrap,
  adopt_orphans,
  limit_core_dumps,
  make_file,
  enter_directory,
  find_workspace,
  same_workspace,
  write_workspace,
  compare_carve_out,
  carve_out_is_read_only,
  wait_for_child,
};

[[nodiscard]] constexpr std::string_view name_of(step value) noexcept {
  switch (value) {
    case step::read_specification:
      return "read-specification";
    case step::close_descriptors:
      return "close-descriptors";
    case step::forbid_tracing:
      return "forbid-tracing";
    case step::die_with_bwrap:
      return "die-with-bwrap";
    case step::adopt_orphans:
      return "adopt-orphans";
    case step::limit_core_dumps:
      return "limit-core-dumps";
    case step::make_file:
      return "make-file";
    case step::enter_directory:
      return "enter-directory";
    case step::find_workspace:
      return "find-workspace";
    case step::same_workspace:
      return "same-workspace";
    case step::write_workspace:
      return "write-workspace";
    case step::compare_carve_out:
      return "compare-carve-out";
    case step::carve_out_is_read_only:
      return "carve-out-is-read-only";
    case step::wait_for_child:
      return "wait-for-child";
  }
  return "unknown";
}

struct message {
  report kind;
  std::int32_t value;
  std::uint64_t extra;
};

inline constexpr std::uint32_t magic = 0x70666432;

/// The head of a specification; the texts follow in the order of the counts, each as a 32-bit
/// length, the bytes, and a NUL that the length does not count.
///   directory, arguments..., environment..., (path, content) of files..., proof paths...
struct head {
  std::uint32_t magic;
  std::uint32_t flags;
  std::uint32_t arguments;
  std::uint32_t environment;
  std::uint32_t files;
  std::uint32_t proofs;
};

inline constexpr std::uint32_t flag_confined = 1;         ///< stage two is PID 1 of a sandbox
inline constexpr std::uint32_t flag_must_write = 2;       ///< the first proof must be writable
inline constexpr std::uint32_t flag_keep_core_dumps = 4;  ///< leave the core limit alone

/// What a path must be, seen from inside: the object that the runner saw. Stored before its path.
struct proof {
  std::uint64_t device;
  std::uint64_t inode;
  std::uint32_t read_only;    ///< 1: must lie on a read-only mount
  std::uint32_t by_identity;  ///< 1: device and inode must be these
};

}  // namespace pinfold::stage
