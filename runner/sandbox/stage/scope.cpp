// Landlock's scopes: nothing inside connects to an abstract socket that was made outside, or signals
// a process outside. Where the kernel has none (before Linux 6.12, ABI 6) the run record says so;
// where it has them, they must work.
#include <errno.h>
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

}  // namespace

std::uint64_t scope_sockets() {
  if (landlock_abi() < first_abi_with_scopes) return 0;
  const auto before = listen_before_the_scope();
  const ruleset wanted{0, 0, scope_abstract_sockets | scope_signals};
  const auto rules = static_cast<int>(
      ::syscall(SYS_landlock_create_ruleset, &wanted, sizeof wanted, 0U));
  if (rules < 0) fail(step::scope_sockets, errno);
  if (::syscall(SYS_landlock_restrict_self, rules, 0U) != 0) fail(step::scope_sockets, errno);
  ::close(rules);
  try_to_connect(before);
  ::close(before.fd);
  return obtained_scope;
}

}  // namespace pinfold::stage
