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

outlet::outlet(int fd, watched other)
    : descriptor_{fd}, other_{other}, closing_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
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

/// For poll(2): no end while the client's end is open.
int outlet::left_of_patience() {
  using std::chrono::milliseconds;
  if (!until_) return -1;
  const auto left = *until_ - std::chrono::steady_clock::now();
  return static_cast<int>(std::max(std::chrono::ceil<milliseconds>(left), milliseconds{0}).count());
}

/// What the client wrote before it closed its end may still wait to be read (poll(2) tells the end at
/// once): so there is a time in which a client that reads gets its answers.
bool outlet::wait_for_room() {
  constexpr short is_over = POLLHUP | POLLRDHUP | POLLERR | POLLNVAL;
  std::array<pollfd, 4> polled{{{own_ ? own_.get() : descriptor_, POLLOUT, 0},
                                {closing_.get(), POLLIN, 0},
                                {other_.ending, POLLIN, 0},
                                {other_.input, POLLRDHUP, 0}}};
  for (;;) {
    if (until_) polled[3].fd = -1;
    const int left = left_of_patience();
    if (left == 0) return false;
    const int ready = ::poll(polled.data(), polled.size(), left);
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) continue;
    if (polled[1].revents != 0 || polled[2].revents != 0) return false;
    if ((polled[3].revents & is_over) != 0) until_ = std::chrono::steady_clock::now() + patience;
    if (polled[0].revents != 0) return true;
  }
}

}  // namespace pinfold::mcp
