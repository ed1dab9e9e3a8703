// What the launcher hands the program that attaches mounts by descriptor (launch_plan::attached). It is the image of
// stage two under another name, speaks its messages and has the same numbers of descriptors.
#pragma once

#include <cstdint>

namespace pinfold::attach {

/// The name (argv[0]) under which the image does this instead of being stage two.
inline constexpr char program_name[] = "pinfold-attach";

enum class kind : std::uint32_t {
  writable,     ///< what stands there, once more, writable as far as the host's mount is
  read_only,    ///< the same, read-only
  null_device,  ///< the sandbox's /dev/null over a file
  empty,        ///< an empty file system of `size` bytes and `mode`
  close,        ///< what is mounted there becomes read-only
  writable_from,   ///< what stands at a source, writable
  read_only_from,  ///< the same, read-only
};

/// One mount; its path follows as a 32-bit length, the bytes, and a NUL that the length does not
/// count; for a kind that has a source, that comes after it in the same way. Paths are absolute and
/// hold no link.
struct entry {
  kind what;
  std::uint32_t mode;
  std::uint64_t size;
};

inline constexpr std::uint32_t magic = 0x70666133;

/// What the list begins with; the open places follow, each a text like a path, then the entries.
struct head {
  std::uint32_t magic;
  std::uint32_t open_places;  ///< below these a mount may be writable
  std::uint32_t entries;
  std::uint32_t may_nest;  ///< 1: user namespaces may be made inside
};

/// Launcher to it, once: PID 1 of the sandbox, as the launcher's own /proc knows it. That process must
/// be alive and wait for the launcher.
struct target {
  std::int32_t init;
};

}  // namespace pinfold::attach
