// Bytes both ways. What is read is written before more is read, so that a connection holds no more
// than its two rooms, or what is in its pipes; an end one way is passed on one way, a reset is passed
// on as one.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "egress/client_hello.hpp"
#include "egress/connection.hpp"
#include "egress/decide.hpp"
#include "egress/http_body.hpp"

namespace pinfold::egress_net {
namespace {

/// A room grows while it is filled.
constexpr std::size_t first_room = 16 * 1024;
constexpr std::size_t most_room = 128 * 1024;

/// What has carried so much one way is worth a pipe.
constexpr std::uint64_t many_bytes = 1024 * 1024;

}  // namespace

void connection::let_through() {
  attempt_.is_open = true;
  keep_alive();
  wake_the_watch();
  all_.tell(attempt_);
}

/// Closed like this, a socket sends a reset.
void connection::reset_both() {
  error_code ignored;
  client_.set_option(tcp::socket::linger{true, 0}, ignored);
  server_.set_option(tcp::socket::linger{true, 0}, ignored);
  client_.cancel(ignored);
  server_.cancel(ignored);
}

/// A server that takes no more may still have something to say, so that is no end of its way.
task<bool> connection::pass_on(way direction, std::string_view bytes) {
  const bool is_out = direction == way::out;
  if (is_out && !all_.may_send(bytes.size())) {
    interrupt(cut::over_budget);
    co_return false;
  }
  if (!co_await write(is_out ? server_ : client_, bytes)) {
    if (!is_out && cut_ == cut::no) reset_both();
    co_return false;
  }
  (is_out ? attempt_.sent : attempt_.received) += bytes.size();
  keep_alive();
  co_return true;
}

task<> connection::carry(way direction) {
  auto& from = direction == way::out ? client_ : server_;
  auto& to = direction == way::out ? server_ : client_;
  std::vector<char> room(first_room);
  for (std::uint64_t carried = 0; !is_cut();) {
    error_code wrong;
    const auto got = co_await from.async_read_some(asio::buffer(room), into(wrong));
    if (wrong == asio::error::eof) {
      to.shutdown(tcp::socket::shutdown_send, wrong);
      co_return;
    }
    if (wrong) {
      if (cut_ == cut::no) reset_both();
      co_return;
    }
    if (!co_await pass_on(direction, {room.data(), got})) co_return;
    if (got == room.size() && got < most_room) room.resize(got * 2);
    carried += got;
    if (carried < many_bytes) continue;
    carried = 0;  // without a descriptor for it now, there may be one later
    if (auto through = pipe_ends::make()) {
      room = {};
      co_return co_await carry_spliced(direction, std::move(*through));
    }
  }
}

/// The way out of a tunnel that needs no hello: what looks like one is read all the same, and one that
/// names somebody else is not passed on.
task<> connection::carry_out(std::string first) {
  const bool may_be_tls =
      all_.settings.names == tls_names::optional && attempt_.protocol != egress_protocol::loopback;
  while (may_be_tls && first.empty()) {
    if (co_await read_more(first, egress_bytes::most_hello_bytes)) continue;
    error_code ignored;
    server_.shutdown(tcp::socket::shutdown_send, ignored);
    co_return;
  }
  while (may_be_tls && first.front() == egress_bytes::tls_handshake) {
    const auto hello = egress_bytes::read_client_hello(first);
    if (!hello) break;  // no TLS after all
    if (*hello) {
      auto decided = decide_hello(**hello, tls_names::optional, *host_,
                                  static_cast<std::uint16_t>(attempt_.port));
      if (decided) break;
      attempt_.refused = std::move(decided.error());
      reset_both();
      co_return;
    }
    if (!co_await read_more(first, egress_bytes::most_hello_bytes)) break;
  }
  if (!first.empty() && !co_await pass_on(way::out, first)) co_return;
  co_await carry(way::out);
}

void connection::start_out(task<> out) {
  is_out_done_ = false;
  asio::co_spawn(all_.loop, std::move(out), [self = shared_from_this()](std::exception_ptr) {
    self->is_out_done_ = true;
    self->wake_.cancel();
  });
}

task<> connection::out_is_done() {
  while (!is_out_done_) {
    error_code ignored;
    wake_.expires_at(clock::time_point::max());
    co_await wake_.async_wait(into(ignored));
  }
}

task<> connection::carry_both(std::string first) {
  let_through();
  start_out(carry_out(std::move(first)));
  co_await carry(way::in);
  co_await out_is_done();
}

/// After the body nothing more is read from the client: it would be another request.
task<> connection::carry_body(egress_bytes::body_reader body, std::string rest) {
  while (!body.is_at_end()) {
    std::string_view bytes = rest;
    std::string out;
    if (const auto taken = body.take(bytes, out); !taken) {
      attempt_.refused = refused_connection(taken.error().error, attempt_.host, attempt_.port,
                                            std::string{taken.error().why});
      reset_both();
      co_return;
    }
    if (!out.empty() && !co_await pass_on(way::out, out)) co_return;
    rest.erase(0, rest.size() - bytes.size());
    if (body.is_at_end()) co_return;
    if (!co_await read_more(rest, rest.size() + first_room)) {
      if (cut_ == cut::no) reset_both();  // a body that ends early must not look whole
      co_return;
    }
  }
}

/// One request, one response: the server is asked to close behind it, and its end is the client's.
task<> connection::carry_request(std::string head, egress_bytes::body_reader body,
                                 std::string rest) {
  let_through();
  if (!co_await pass_on(way::out, head)) co_return;
  start_out(carry_body(body, std::move(rest)));
  co_await carry(way::in);
  error_code ignored;
  if (!is_out_done_) client_.cancel(ignored);
  co_await out_is_done();
  if (cut_ != cut::no || attempt_.refused) co_return;
  co_await linger();
}

}  // namespace pinfold::egress_net
