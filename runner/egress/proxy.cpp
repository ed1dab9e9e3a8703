// The thread and the accepting; what happens to a connection is the connection's own.
#include "egress/proxy.hpp"

#include <sys/socket.h>

#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "egress/connection.hpp"
#include "egress/service.hpp"
#include "launch/signals_blocked.hpp"

namespace pinfold {
namespace {

using namespace egress_net;

/// With so many being told that there is no place, the others wait in the listening queue.
constexpr std::size_t most_turned_away = 64;

task<> pause(asio::io_context& loop) {
  asio::steady_timer timer{loop, std::chrono::milliseconds{10}};
  error_code ignored;
  co_await timer.async_wait(into(ignored));
}

/// Out of descriptors is no end: some become free.
task<> accept_on(service& all, std::shared_ptr<tcp::acceptor> from, std::uint16_t loopback) {
  while (!all.is_stopping) {
    tcp::socket client{all.loop};
    error_code wrong;
    co_await from->async_accept(client, into(wrong));
    if (all.is_stopping || wrong == asio::error::bad_descriptor) co_return;
    if (wrong) {
      co_await pause(all.loop);
      continue;
    }
    const bool has_place = all.open.size() - all.turned_away < all.settings.limits.connections;
    const auto made = std::make_shared<connection>(all, std::move(client));
    asio::co_spawn(
        all.loop,
        [made, has_place, loopback]() -> task<> {
          if (!has_place) return made->turn_away();
          return loopback == 0 ? made->serve() : made->serve_loopback(loopback);
        },
        asio::detached);
    while (all.turned_away >= most_turned_away && !all.is_stopping) co_await pause(all.loop);
  }
}

int family_of(const descriptor& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return address.ss_family;
}

}  // namespace

struct egress_proxy::state {
  state(egress_settings settings, sink to) : all{std::move(settings), std::move(to)} {}

  service all;
  std::vector<std::shared_ptr<tcp::acceptor>> acceptors;
  std::mutex guard;
  std::condition_variable changed;
  bool is_over{false};
  std::thread thread;

  error_code listen(egress_listener listener) {
    auto from = std::make_shared<tcp::acceptor>(all.loop);
    error_code wrong;
    const auto protocol = family_of(listener.socket) == AF_INET6 ? tcp::v6() : tcp::v4();
    from->assign(protocol, listener.socket.get(), wrong);
    if (wrong) return wrong;
    (void)listener.socket.release();
    acceptors.push_back(from);
    asio::co_spawn(all.loop, accept_on(all, std::move(from), listener.loopback), asio::detached);
    return wrong;
  }

  void work() {
    all.loop.run();
    const std::lock_guard held{guard};
    is_over = true;
    changed.notify_all();
  }

  /// What is cut off gets a moment to say so.
  void stop() {
    all.mail->deliver([this] {
      all.is_stopping = true;
      error_code ignored;
      for (const auto& one : acceptors) one->close(ignored);
      for (auto* one : std::vector{all.open}) one->stop();
    });
    std::unique_lock held{guard};
    if (changed.wait_for(held, std::chrono::seconds{2}, [this] { return is_over; })) return;
    all.loop.stop();
  }
};

egress_proxy::egress_proxy(std::unique_ptr<state> now) noexcept : now_{std::move(now)} {}
egress_proxy::egress_proxy(egress_proxy&&) noexcept = default;

egress_proxy::~egress_proxy() {
  if (!now_) return;
  now_->stop();
  now_->thread.join();
}

std::expected<egress_proxy, int> egress_proxy::start(egress_settings settings,
                                                     std::vector<egress_listener> listeners,
                                                     sink to) {
  try {
    auto now = std::make_unique<state>(std::move(settings), std::move(to));
    for (auto& one : listeners) {
      if (const auto wrong = now->listen(std::move(one))) return std::unexpected{wrong.value()};
    }
    const signals_blocked quiet;
    now->thread = std::thread{[own = now.get()] { own->work(); }};
    return egress_proxy{std::move(now)};
  } catch (const std::system_error& none) {
    return std::unexpected{none.code().value()};
  }
}

}  // namespace pinfold
