// read(2) and write(2) in turn, whenever one of the two is possible.
#include "launch/input_relay.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

namespace pinfold {
namespace {

/// EOT, the VEOF character of a new terminal: the first one only ends a line that is begun (termios(3)).
constexpr std::string_view end_of_file = "\x04\x04";

/// The same object by a description of our own, which may be non-blocking without harm to whoever
/// shares the caller's. Where others read from it too, what was there for poll(2) may be gone for
/// read(2).
descriptor reopened(int source, const struct stat& about) {
  if (!S_ISFIFO(about.st_mode) && ::isatty(source) != 1) return {};
  const auto path = "/proc/self/fd/" + std::to_string(source);
  return descriptor{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)};
}

}  // namespace

input_relay::input_relay(int source, descriptor to, target kind)
    : source_{source}, to_{std::move(to)}, kind_{kind} {
  struct stat about {};
  if (::fstat(source, &about) != 0) {
    close_at_end();
    return;
  }
  is_socket_ = S_ISSOCK(about.st_mode);
  own_ = reopened(source, about);
  if (own_) source_ = own_.get();
}

pollfd input_relay::wanted() const noexcept {
  if (!to_ || is_broken_) return {-1, 0, 0};
  if (!pending_.empty()) return {to_.get(), POLLOUT, 0};
  return {source_, POLLIN, 0};
}

int input_relay::move() {
  if (!to_ || is_broken_) return 0;
  if (pending_.empty()) {
    if (const int wrong = fill(); wrong != 0) return wrong;
  }
  flush();
  return 0;
}

int input_relay::fill() {
  const auto got = is_socket_ ? ::recv(source_, buffer_.data(), buffer_.size(), MSG_DONTWAIT)
                              : ::read(source_, buffer_.data(), buffer_.size());
  if (got > 0) {
    pending_ = {buffer_.data(), static_cast<std::size_t>(got)};
    is_in_a_line_ = pending_.back() != '\n';
  } else if (got == 0) {
    close_at_end();
  } else if (errno != EAGAIN && errno != EINTR) {
    is_broken_ = true;
    return errno;
  }
  return 0;
}

/// A command that reads no more is not told apart from one that reads later: the runner holds the
/// pipe's other end too, so there is no SIGPIPE.
void input_relay::flush() {
  while (to_ && !pending_.empty()) {
    const auto wrote = ::write(to_.get(), pending_.data(), pending_.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0 && errno == EAGAIN) return;
    if (wrote < 0) return to_.reset();  // the terminal is gone
    pending_.remove_prefix(static_cast<std::size_t>(wrote));
  }
  if (to_ && is_at_end_) to_.reset();
}

void input_relay::close_at_end() {
  if (kind_ == target::pipe) return to_.reset();
  is_at_end_ = true;
  pending_ = end_of_file.substr(is_in_a_line_ ? 0 : 1);
}

}  // namespace pinfold
