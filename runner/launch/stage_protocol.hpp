// What the launcher and stage two say to each other: fixed descriptors, one message shape, one
// packed specification. Both sides are built from this file, so there is no version to negotiate;
// `stage_magic` only keeps a wrong file from being read as a specification.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace pinfold::stage {

/// The descriptors stage two starts with; everything else is closed before it runs.
inline constexpr int spec_fd = 3;     ///< sealed memfd: the specification
inline constexpr int channel_fd = 4;  ///< SOCK_SEQPACKET to the runner, both ways
inline constexpr int image_fd = 5;    ///< sealed memfd: stage two itself
inline constexpr int args_fd = 6;     ///< bwrap's --args; bwrap closes it
inline constexpr int info_fd = 7;     ///< bwrap's --info-fd; bwrap closes it
inline constexpr int block_fd = 8;    ///< bwrap's --block-fd; bwrap closes it
inline constexpr int held_fd = 9;     ///< first of the descriptors that only have to stay open

/// Runner to stage two, one byte each. End of file means the runner is gone: kill and exit.
inline constexpr char prove = 'b';           ///< every mount is there: prove the boundary
inline constexpr char go = 'g';              ///< start the command
inline constexpr char memory_is_held = 'm';  ///< before go: a cgroup bounds it, so look no more
inline constexpr char tasks_are_held = 'p';  ///< the same
inline constexpr char terminate = 't';       ///< SIGTERM to the command's process group
inline constexpr char kill = 'k';            ///< SIGKILL to everything
inline constexpr char measure = 'u';         ///< asks for `measured`; of a sandbox alone

/// Stage two to runner.
enum class report : std::uint32_t {
  present,      ///< bwrap is done; waits for `prove` (bubblewrap only)
  locked,       ///< nothing can take its mounts apart any more; its proofs follow
  attached,     ///< the plan's other mounts are there: the attaching program's only report
  ready,        ///< everything before the command is done; `extra`: obtained_...; waits for `go`.
                ///< Carries the master of the pseudo-terminal (SCM_RIGHTS) where one was asked for
  failed,       ///< `value` is an errno, `extra` the step (enum class step): gives up
  listening,    ///< `value` is a port inside; carries the socket that listens on it (SCM_RIGHTS)
  started,      ///< the command runs
  not_started,  ///< the command could not be executed; `value` is the errno
  limited,      ///< `value` is which (enum class limited), `extra` 1 when everything is killed for it
  measured,     ///< `value` is the number of tasks, `extra` their resident bytes
  ended,        ///< `value` is the wait status, `extra` the number of processes killed after it
};

/// Which limit was met. The numbers go over the channel.
enum class limited : std::int32_t { nothing, memory, processes, cpu_time, file_size, tmp_size };

/// What stage two does and proves before it is ready; named in refusals.
enum class step : std::uint64_t {
  read_specification,
  close_descriptors,
  forbid_tracing,
  die_with_bwrap,
  adopt_orphans,
  limit_core_dumps,
  set_limits,
  watch_limits,
  make_file,
  enter_directory,
  find_workspace,
  same_workspace,
  write_workspace,
  compare_carve_out,
  carve_out_is_read_only,
  wait_for_child,
  capabilities_are_empty,
  no_new_privileges,
  no_network_device,
  no_route,
  own_user_namespace,
  own_pid_namespace,
  own_mount_namespace,
  own_network_namespace,
  own_ipc_namespace,
  own_uts_namespace,
  own_cgroup_namespace,
  sysctls_are_closed,
  cgroups_are_closed,
  outside_is_closed,
  hidden_place_is_closed,
  secret_is_covered,
  no_descriptor_left,
  filter_system_calls,
  system_calls_are_filtered,
  scope_sockets,
  sockets_are_scoped,
  open_terminal,
  listen_inside,
  enter_boundary,
  attach_mount,
  restrict_writes,
  lock_mounts,
  no_more_namespaces,
  mounts_are_private,
  mount_is_read_only,
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
    case step::set_limits:
      return "set-limits";
    case step::watch_limits:
      return "watch-limits";
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
    case step::capabilities_are_empty:
      return "capabilities-are-empty";
    case step::no_new_privileges:
      return "no-new-privileges";
    case step::no_network_device:
      return "no-network-device";
    case step::no_route:
      return "no-route";
    case step::own_user_namespace:
      return "own-user-namespace";
    case step::own_pid_namespace:
      return "own-pid-namespace";
    case step::own_mount_namespace:
      return "own-mount-namespace";
    case step::own_network_namespace:
      return "own-network-namespace";
    case step::own_ipc_namespace:
      return "own-ipc-namespace";
    case step::own_uts_namespace:
      return "own-uts-namespace";
    case step::own_cgroup_namespace:
      return "own-cgroup-namespace";
    case step::sysctls_are_closed:
      return "sysctls-are-closed";
    case step::cgroups_are_closed:
      return "cgroups-are-closed";
    case step::outside_is_closed:
      return "outside-is-closed";
    case step::hidden_place_is_closed:
      return "hidden-place-is-closed";
    case step::secret_is_covered:
      return "secret-is-covered";
    case step::no_descriptor_left:
      return "no-descriptor-left";
    case step::filter_system_calls:
      return "filter-system-calls";
    case step::system_calls_are_filtered:
      return "system-calls-are-filtered";
    case step::scope_sockets:
      return "scope-sockets";
    case step::sockets_are_scoped:
      return "sockets-are-scoped";
    case step::open_terminal:
      return "open-terminal";
    case step::listen_inside:
      return "listen-inside";
    case step::enter_boundary:
      return "enter-boundary";
    case step::attach_mount:
      return "attach-mount";
    case step::restrict_writes:
      return "restrict-writes";
    case step::lock_mounts:
      return "lock-mounts";
    case step::no_more_namespaces:
      return "no-more-namespaces";
    case step::mounts_are_private:
      return "mounts-are-private";
    case step::mount_is_read_only:
      return "mount-is-read-only";
  }
  return "unknown";
}

/// The longest name of a place that a report carries; a longer one is cut.
inline constexpr std::size_t most_place_bytes = 128;

struct message {
  report kind;
  std::int32_t value;
  std::uint64_t extra;
  char place[most_place_bytes];  ///< `failed` only: where, with a NUL behind it; may be empty
};

/// In `extra` of `ready`: what was obtained where that depends on the kernel.
inline constexpr std::uint64_t obtained_scope = 1;  ///< Landlock scopes abstract sockets and signals
inline constexpr std::uint64_t obtained_writes = 2;  ///< Landlock lets nothing be opened for writing outside

inline constexpr std::uint32_t magic = 0x70666432;

/// The namespaces of a process, in the order of `head::host_namespaces`.
inline constexpr std::string_view namespace_names[] = {"user", "pid", "mnt",   "net",
                                                       "ipc",  "uts", "cgroup"};
inline constexpr std::uint64_t unknown_namespace = ~std::uint64_t{0};
inline constexpr std::size_t namespace_count = std::size(namespace_names);

/// 0 where there is none.
struct wanted_limits {
  std::uint64_t memory_bytes;
  std::uint64_t tasks;
  std::uint64_t cpu_milliseconds;
  std::uint64_t file_bytes;
};

/// The proxy's port, and those of the host's own loopback.
inline constexpr std::size_t most_listeners = 33;

/// The head of a specification; the texts follow in the order of the counts, each as a 32-bit
/// length, the bytes, and a NUL that the length does not count.
///   directory, arguments..., environment..., (path, content) of files...,
///   (struct proof, path) of proofs..., (struct place, path, entries...) of places...
struct head {
  std::uint32_t magic;
  std::uint32_t flags;
  std::uint32_t arguments;
  std::uint32_t environment;
  std::uint32_t files;
  std::uint32_t proofs;
  std::uint32_t places;
  std::uint32_t held;  ///< descriptors from `held_fd` on that only have to stay open
  /// The inode numbers of the runner's own namespaces; 0 where sharing it is meant, and
  /// `unknown_namespace` where there is no knowing: then the kernel must not have it inside either.
  std::uint64_t host_namespaces[namespace_count];
  wanted_limits limits;
  std::uint32_t listeners;  ///< how many of these ports are listened on inside
  std::uint16_t listener_ports[most_listeners];
};

inline constexpr std::uint32_t flag_confined = 1;         ///< stage two is PID 1 of a sandbox
inline constexpr std::uint32_t flag_must_write = 2;       ///< the first proof must be writable
inline constexpr std::uint32_t flag_keep_core_dumps = 4;  ///< leave the core limit alone
inline constexpr std::uint32_t flag_may_nest = 8;         ///< user namespaces may be made inside
inline constexpr std::uint32_t flag_offline = 16;         ///< no device but lo, no route
inline constexpr std::uint32_t flag_terminal = 32;        ///< the command gets a pseudo-terminal

/// What a path must be, seen from inside: the object that the runner saw. Stored before its path.
struct proof {
  std::uint64_t device;
  std::uint64_t inode;
  std::uint32_t read_only;    ///< 1: must lie on a read-only mount
  std::uint32_t by_identity;  ///< 1: device and inode must be these
};

/// A directory that must be closed, or hold nothing but known names, or both; or a file that must be
/// covered. Stored before its path and the names.
struct place {
  std::uint32_t kind;
  std::uint32_t entries;
};
inline constexpr std::uint32_t place_closed = 1;  ///< read-only, and nothing can be made there
inline constexpr std::uint32_t place_listed = 2;  ///< holds nothing but the entries that follow
inline constexpr std::uint32_t place_outside = 4;  ///< not hidden: another name in a refusal
inline constexpr std::uint32_t place_scratch = 16;  ///< writable, with a size
inline constexpr std::uint32_t place_covered = 8;  ///< a file with /dev/null over it
inline constexpr std::uint32_t place_open = 32;  ///< the command may open files below it for writing

}  // namespace pinfold::stage
