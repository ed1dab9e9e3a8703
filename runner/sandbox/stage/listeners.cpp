// Listening sockets on the sandbox's own loopback, handed to the runner: the one way out, since who
// accepts on them is outside. Nothing of them stays here.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "stage.hpp"

namespace pinfold::stage {
namespace {

constexpr int queue = 1024;  // the kernel cuts it to net.core.somaxconn

/// Both loopbacks through one socket, since "localhost" may be either: there is no other device here.
int listen_on_both(std::uint16_t port) {
  const int fd = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const int no = 0;
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  any.sin6_port = htons(port);
  if (::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no) == 0 &&
      ::bind(fd, reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0 &&
      ::listen(fd, queue) == 0) {
    return fd;
  }
  const int wrong = errno;
  ::close(fd);
  errno = wrong;
  return -1;
}

/// Where the kernel has no IPv6.
int listen_on_one(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  sockaddr_in loopback{};
  loopback.sin_family = AF_INET;
  loopback.sin_port = htons(port);
  loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&loopback), sizeof loopback) == 0 &&
      ::listen(fd, queue) == 0) {
    return fd;
  }
  return -1;
}

}  // namespace

/// In the order in which they were asked for. The runner closes what it got when this fails.
void hand_out_listeners(const specification& spec) {
  for (std::uint32_t i = 0; i < spec.counts.listeners; ++i) {
    const auto port = spec.counts.listener_ports[i];
    int fd = listen_on_both(port);
    if (fd < 0 && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL)) fd = listen_on_one(port);
    if (fd < 0) fail(step::listen_inside, errno);
    send_with({report::listening, port, 0, {}}, fd);
    ::close(fd);
  }
}

}  // namespace pinfold::stage
