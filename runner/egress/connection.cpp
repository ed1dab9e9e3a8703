// Waiting, and the end. Nothing is waited for without a limit: the watch wakes at the nearest one and
// cancels what is under way, and whoever waited sees why.
#include "egress/connection.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "egress/answer.hpp"
#include "egress/decide.hpp"

namespace pinfold::egress_net {
namespace {

using namespace std::chrono_literals;

/// For the last words to somebody who was cut off.
constexpr auto parting_limit = 2s;

constexpr std::size_t read_step = 4096;
constexpr std::size_t most_drained = 64 * 1024;

std::chrono::milliseconds since(connection::clock::time_point then) {
  return std::chrono::round<std::chrono::milliseconds>(connection::clock::now() - then);
}

}  // namespace

connection::connection(service& all, tcp::socket from)
    : all_{all},
      client_{std::move(from)},
      server_{all.loop},
      watch_{all.loop},
      wake_{all.loop},
      due_{began_ + patience()},
      last_{began_ + all.settings.limits.total} {
  attempt_.started = std::chrono::round<std::chrono::milliseconds>(began_ - all.began);
  all_.open.push_back(this);
}

connection::~connection() {
  std::erase(all_.open, this);
}

std::chrono::milliseconds connection::patience() const {
  return std::min<std::chrono::milliseconds>(10s, all_.settings.limits.idle);
}

void connection::wait_at_most(std::chrono::milliseconds limit) {
  if (is_cut()) return;
  due_ = clock::now() + limit;
  at_due_ = cut::too_slow;
  wake_the_watch();
}

/// Only where it would sleep for too long: most limits are moved further away.
void connection::wake_the_watch() {
  if (due_ < watch_.expiry()) watch_.cancel();
}

/// The watch sees the later moment when it wakes at the earlier one.
void connection::keep_alive() {
  if (is_cut()) return;
  due_ = clock::now() + all_.settings.limits.idle;
  at_due_ = cut::idle;
}

void connection::interrupt(cut why) {
  if (cut_ == cut::no) cut_ = why;
  due_ = last_ = clock::now() + parting_limit;
  error_code ignored;
  client_.cancel(ignored);
  server_.cancel(ignored);
  wake_.cancel();
}

void connection::stop() {
  interrupt(cut::stopped);
}

task<> connection::watch() {
  while (!is_over_) {
    const auto next = std::min(due_, last_);
    if (clock::now() >= next) {
      interrupt(next == last_ ? cut::too_long : at_due_);
      continue;
    }
    error_code ignored;
    watch_.expires_at(next);
    co_await watch_.async_wait(into(ignored));
  }
}

/// False at the end, at an error and when it took too long: `cut_` says which.
task<bool> connection::read_more(std::string& buffer, std::size_t most) {
  const auto had = buffer.size();
  if (had >= most || is_cut()) co_return false;
  buffer.resize(std::min(had + read_step, most));
  error_code wrong;
  const auto got = co_await client_.async_read_some(
      asio::buffer(buffer.data() + had, buffer.size() - had), into(wrong));
  buffer.resize(had + got);
  co_return !wrong;
}

task<bool> connection::write(tcp::socket& to, std::string_view bytes) {
  if (is_cut()) co_return false;
  error_code wrong;
  co_await asio::async_write(to, asio::buffer(bytes.data(), bytes.size()), into(wrong));
  co_return !wrong;
}

/// A socket that is closed while something it got has not been read resets the connection, and the
/// other side may never see the last words.
task<> connection::linger() {
  is_parting_ = true;
  wait_at_most(parting_limit);
  error_code ignored;
  client_.shutdown(tcp::socket::shutdown_send, ignored);
  std::string drained;
  while (co_await read_more(drained, most_drained)) {
  }
}

task<> connection::tell_client(refusal why) {
  attempt_.refused = std::move(why);
  if (cut_ == cut::stopped) co_return;
  std::string text;
  switch (speaks_) {
    case tongue::nothing:
      break;
    case tongue::http:
      text = egress_bytes::http_refusal(*attempt_.refused);
      break;
    case tongue::socks:
      text = egress_bytes::socks_refusal(*attempt_.refused);
      break;
    case tongue::tls:
      text = egress_bytes::tls_access_denied();
      break;
  }
  is_parting_ = true;
  wait_at_most(parting_limit);
  if (co_await write(client_, text)) co_await linger();
}

task<> connection::turn_away() {
  ++all_.turned_away;
  auto self = shared_from_this();
  asio::co_spawn(all_.loop, [self]() -> task<> { co_await self->watch(); }, asio::detached);
  speaks_ = tongue::http;
  auto why = refused_connection(code::egress_limit, "", 0,
                                std::to_string(all_.settings.limits.connections) +
                                    " connections are open, and no more are let through");
  why.path = "the proxy";
  co_await tell_client(std::move(why));
  --all_.turned_away;
  finish();
}

/// What was cut off by a limit is told as a refusal too.
void connection::finish() {
  is_over_ = true;
  watch_.cancel();
  error_code ignored;
  client_.close(ignored);
  server_.close(ignored);
  attempt_.is_open = false;
  attempt_.duration = since(began_);
  const auto limit = [this](std::string detail) {
    if (attempt_.refused || attempt_.host.empty()) return;
    attempt_.refused =
        refused_connection(code::egress_limit, attempt_.host, attempt_.port, std::move(detail));
  };
  if (cut_ == cut::idle) limit("nothing was sent either way for too long");
  if (cut_ == cut::too_long) limit("the connection was open for too long");
  if (cut_ == cut::too_slow) limit("the client was too slow");
  if (cut_ == cut::over_budget) limit("no more bytes may leave");
  if (!attempt_.host.empty() || attempt_.refused) all_.tell(attempt_);
}

task<> connection::serve() {
  auto self = shared_from_this();
  asio::co_spawn(all_.loop, [self]() -> task<> { co_await self->watch(); }, asio::detached);
  try {
    co_await dispatch();
  } catch (const std::exception&) {  // out of memory: this connection alone
    cut_ = cut::stopped;
  }
  finish();
}

}  // namespace pinfold::egress_net
