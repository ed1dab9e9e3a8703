// A client that does not read must not keep the server from ending, so no write waits in the kernel: a
// pipe is opened a second time, a socket is told with each call, and anything else gets no more at once
// than a pipe takes that poll(2) calls writable (pipe(7), PIPE_BUF): a pipe of another user's, which
// cannot be opened again, and a terminal.
#include "mcp/output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

namespace pinfold::mcp {

outlet::outlet(int fd, int ending)
    : descriptor_{fd}, ending_{ending}, closing_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
  struct stat about {};
  if (::fstat(fd, &about) != 0) return;
  if (S_ISSOCK(about.st_mode)) kind_ = kind::socket;
  if (!S_ISFIFO(about.st_mode)) return;
  const auto name = "/proc/self/fd/" + std::to_string(fd);
  own_.reset(::open(name.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  if (own_) kind_ = kind::pipe;
}

void outlet::send(std::string_view line, when written) {
  const std::lock_guard locked{lock_};
  if (is_closed_.load(std::memory_order_relaxed)) return;
  pending_ += line;
  pending_ += '\n';
  if (written == when::now || pending_.size() >= most_pending) write_pending();
}

void outlet::flush() {
  const std::lock_guard locked{lock_};
  if (!pending_.empty()) write_pending();
}

void outlet::close() noexcept {
  is_closed_ = true;
  const std::uint64_t one = 1;
  const auto wrote = ::write(closing_.get(), &one, sizeof one);
  (void)wrote;  // full only after 2^64-2 of them
}

void outlet::write_pending() {
  std::string_view left = pending_;
  while (!left.empty() && !is_closed_.load(std::memory_order_relaxed)) {
    const auto wrote = write_some(left);
    if (wrote >= 0) {
      left.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (errno == EAGAIN ? !wait_for_room() : errno != EINTR) {
      is_closed_ = true;
    }
  }
  pending_.clear();
  if (pending_.capacity() > 4 * most_pending) pending_ = {};
}

long outlet::write_some(std::string_view bytes) {
  switch (kind_) {
    case kind::socket:
      return ::send(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    case kind::pipe:
      return ::write(own_.get(), bytes.data(), bytes.size());
    case kind::plain:
      break;
  }
  if (!wait_for_room()) {
    errno = EPIPE;
    return -1;
  }
  return ::write(descriptor_, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
}

bool outlet::wait_for_room() {
  std::array<pollfd, 3> watched{{{own_ ? own_.get() : descriptor_, POLLOUT, 0},
                                 {closing_.get(), POLLIN, 0},
                                 {ending_, POLLIN, 0}}};
  for (;;) {
    const int ready = ::poll(watched.data(), watched.size(), -1);
    if (ready < 0 && errno != EINTR) return false;
    if (watched[1].revents != 0 || watched[2].revents != 0) return false;
    if (ready > 0) return true;
  }
}

}  // namespace pinfold::mcp
