// Bytes one way once there have been many: splice(2) moves them through a pipe, and they never come up
// into this process. Whatever has to be read before it may pass was read before; the budget counts
// what is in the pipe, before it leaves.
#include <fcntl.h>

#include <cerrno>

#include "egress/connection.hpp"

namespace pinfold::egress_net {
namespace {

/// Four times what a pipe holds by itself: there is less to be woken for. The kernel gives no more
/// where a user has many (pipe(7)), and the pipe stays as it is.
constexpr int pipe_bytes = 256 * 1024;
constexpr std::size_t most_at_once = pipe_bytes;

ssize_t move_bytes(int from, int to, std::size_t most) {
  return ::splice(from, nullptr, to, nullptr, most, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
}

bool is_for_later(int error) {
  return error == EAGAIN || error == EINTR;
}

}  // namespace

/// All that was just put into the pipe, to whom it is for.
task<bool> connection::empty_into(way direction, const pipe_ends& through, std::size_t bytes) {
  auto& to = direction == way::out ? server_ : client_;
  while (bytes > 0) {
    if (is_cut()) co_return false;
    const auto moved = move_bytes(through.reading.get(), to.native_handle(), bytes);
    if (moved > 0) {
      bytes -= static_cast<std::size_t>(moved);
      continue;
    }
    error_code wrong{moved < 0 ? errno : EPIPE, boost::system::system_category()};
    if (moved < 0 && is_for_later(wrong.value())) {
      co_await to.async_wait(tcp::socket::wait_write, into(wrong));
    }
    if (!wrong) continue;
    // A server that takes no more may still have something to say, so that is no end of its way.
    if (direction == way::in && cut_ == cut::no) reset_both();
    co_return false;
  }
  co_return true;
}

task<> connection::carry_spliced(way direction, pipe_ends through) {
  auto& from = direction == way::out ? client_ : server_;
  auto& to = direction == way::out ? server_ : client_;
  (void)::fcntl(through.writing.get(), F_SETPIPE_SZ, pipe_bytes);
  error_code wrong;
  from.native_non_blocking(true, wrong);
  to.native_non_blocking(true, wrong);
  while (!is_cut()) {
    const auto got = move_bytes(from.native_handle(), through.writing.get(), most_at_once);
    if (got == 0) {
      to.shutdown(tcp::socket::shutdown_send, wrong);
      co_return;
    }
    wrong = {got < 0 ? errno : 0, boost::system::system_category()};
    if (got < 0 && is_for_later(wrong.value())) {
      co_await from.async_wait(tcp::socket::wait_read, into(wrong));
      if (!wrong) continue;
    }
    if (wrong) {
      if (cut_ == cut::no) reset_both();
      co_return;
    }
    const auto bytes = static_cast<std::size_t>(got);
    if (direction == way::out && !all_.may_send(bytes)) co_return interrupt(cut::over_budget);
    if (!co_await empty_into(direction, through, bytes)) co_return;
    (direction == way::out ? attempt_.sent : attempt_.received) += bytes;
    keep_alive();
    co_await asio::post(all_.loop, asio::use_awaitable);  // the others have their turn
  }
}

}  // namespace pinfold::egress_net
