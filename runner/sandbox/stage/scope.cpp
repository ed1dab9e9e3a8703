// Landlock, two walls beside the others. Scopes: nothing inside connects to an abstract socket that was
// made outside, or signals a process outside (Linux 6.12, ABI 6). Writes: nothing is opened for writing
// but below the open places, since a FIFO of the host's takes writes through a read-only mount (Linux
// 5.19, ABI 2). Where the kernel has one of them not, the run record says so; what it has must work.
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "stage.hpp"

namespace pinfold::stage {
namespace {

// linux/landlock.h as of ABI 6; Debian 12's header is older.
struct ruleset {
  uint64_t handled_access_fs;
  uint64_t handled_access_net;
  uint64_t scoped;
};
/// The kernel's is packed.
struct [[gnu::packed]] path_beneath {
  uint64_t allowed_access;
  int32_t parent_fd;
};
constexpr unsigned rule_path_beneath = 1;
constexpr uint64_t write_file = 1U << 1U;
constexpr uint64_t refer = 1U << 13U;  ///< where it is not handled, nothing moves between directories
constexpr long first_abi_with_refer = 2;
constexpr uint64_t scope_abstract_sockets = 1;
constexpr uint64_t scope_signals = 2;
constexpr unsigned ask_version = 1;
constexpr long first_abi_with_scopes = 6;

struct listener {
  int fd;
  sockaddr_un address;
  socklen_t size;
};

/// A socket with an abstract name that the kernel chooses (unix(7), autobind).
listener listen_before_the_scope() {
  listener made{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), {}, sizeof(sockaddr_un)};
  const sockaddr_un unnamed{.sun_family = AF_UNIX, .sun_path = {}};
  if (made.fd < 0 || ::bind(made.fd, reinterpret_cast<const sockaddr*>(&unnamed),
                            offsetof(sockaddr_un, sun_path)) != 0 ||
      ::listen(made.fd, 1) != 0 ||
      ::getsockname(made.fd, reinterpret_cast<sockaddr*>(&made.address), &made.size) != 0) {
    fail(step::sockets_are_scoped, errno);
  }
  return made;
}

/// The socket from before the scope is outside it, so connecting must be refused with EPERM.
void try_to_connect(const listener& before) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto* address = reinterpret_cast<const sockaddr*>(&before.address);
  const bool is_held = ::connect(fd, address, before.size) == -1 && errno == EPERM;
  ::close(fd);
  if (!is_held) fail(step::sockets_are_scoped);
}

long landlock_abi() {
  return ::syscall(SYS_landlock_create_ruleset, nullptr, 0UL, ask_version);
}

void allow_writing_below(const char* path, int rules) {
  const int place = ::open(path, O_PATH | O_CLOEXEC);
  const path_beneath rule{write_file | refer, place};
  if (place < 0 || ::syscall(SYS_landlock_add_rule, rules, rule_path_beneath, &rule, 0U) != 0) {
    fail(step::restrict_writes, errno, path);
  }
  ::close(place);
}

}  // namespace

/// A domain that handles files may mount nothing, so where sandboxes may be made inside, writes are left
/// to the mounts alone.
std::uint64_t restrict_by_landlock(const specification& spec) {
  const long abi = landlock_abi();
  const bool may_nest = (spec.counts.flags & flag_may_nest) != 0;
  const bool has_scopes = abi >= first_abi_with_scopes;
  const bool has_writes = abi >= first_abi_with_refer && !may_nest;
  if (!has_scopes && !has_writes) return 0;
  listener before{};
  if (has_scopes) before = listen_before_the_scope();
  const ruleset wanted{has_writes ? write_file | refer : 0, 0,
                       has_scopes ? scope_abstract_sockets | scope_signals : 0};
  // An older kernel takes the part of the structure that it knows.
  const auto size = has_scopes ? sizeof wanted : sizeof wanted.handled_access_fs;
  const auto rules =
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &wanted, size, 0U));
  if (rules < 0) fail(step::scope_sockets, errno);
  for (std::uint32_t i = 0; has_writes && i < spec.open_count; ++i) {
    allow_writing_below(spec.open[i], rules);
  }
  if (::syscall(SYS_landlock_restrict_self, rules, 0U) != 0) fail(step::scope_sockets, errno);
  ::close(rules);
  if (has_scopes) {
    try_to_connect(before);
    ::close(before.fd);
  }
  return (has_scopes ? obtained_scope : 0) | (has_writes ? obtained_writes : 0);
}

}  // namespace pinfold::stage
