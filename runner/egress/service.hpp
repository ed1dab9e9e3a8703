// What all connections of one proxy share. Used on the proxy's thread alone, but for the mailbox.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "egress/asio.hpp"
#include "egress/names.hpp"
#include "egress/proxy.hpp"

namespace pinfold::egress_net {

class connection;

/// Where other threads leave what the loop is to do; closed before the loop is gone.
class mailbox {
 public:
  explicit mailbox(asio::io_context& loop) : loop_{&loop} {}

  void deliver(std::function<void()> act) {
    const std::lock_guard held{guard_};
    if (loop_ != nullptr) asio::post(*loop_, std::move(act));
  }
  void close() {
    const std::lock_guard held{guard_};
    loop_ = nullptr;
  }

 private:
  std::mutex guard_;
  asio::io_context* loop_;
};

struct service {
  service(egress_settings given, egress_proxy::sink sink)
      : settings{std::move(given)}, tell{std::move(sink)}, names{settings.lookup} {}
  service(const service&) = delete;
  service& operator=(const service&) = delete;
  ~service() { mail->close(); }

  egress_settings settings;
  egress_proxy::sink tell;
  name_pool names;
  recent_names recent;
  std::chrono::steady_clock::time_point began{std::chrono::steady_clock::now()};
  std::vector<connection*> open;  ///< each takes itself out at its end
  std::size_t turned_away{0};     ///< of those, what is only told so
  std::uint64_t sent{0};          ///< of all connections
  bool is_stopping{false};
  asio::io_context loop{1};  ///< the last member: what it still holds at its end needs the others
  std::shared_ptr<mailbox> mail{std::make_shared<mailbox>(loop)};

  /// Whether so many bytes more may leave; they count at once.
  [[nodiscard]] bool may_send(std::size_t bytes) {
    const auto most = settings.limits.bytes;
    if (most && bytes > *most - std::min(sent, *most)) return false;
    sent += bytes;
    return true;
  }
};

}  // namespace pinfold::egress_net
