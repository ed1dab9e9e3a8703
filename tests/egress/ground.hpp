// What the tests of the egress proxy share: servers and clients on the loopback, and a proxy whose
// decisions are kept. Every wait has an end: what does not come in ten seconds fails its test.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <pinfold/disk/descriptor.hpp>

#include "egress/proxy.hpp"
#include "support/catch.hpp"

namespace egress_test {

using namespace pinfold;
using namespace std::chrono_literals;

inline constexpr auto patience = 10s;

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// A listening socket on a free port of the loopback.
inline std::pair<descriptor, std::uint16_t> listening() {
  descriptor made{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  auto address = loopback(0);
  socklen_t size = sizeof address;
  if (::bind(made.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(made.get(), 1024) != 0 ||
      ::getsockname(made.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::abort();
  }
  return {std::move(made), ntohs(address.sin_port)};
}

/// One end of a connection, blocking, with a limit of ten seconds for each call.
class peer {
 public:
  explicit peer(descriptor connected) : fd_{std::move(connected)} {
    const timeval limit{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  }

  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const auto sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  /// Up to `most` bytes of what comes; empty at the end and at an error, which `errno` then says.
  std::string some(std::size_t most = 65536) const {
    std::string text(most, '\0');
    errno = 0;
    const auto got = ::recv(fd_.get(), text.data(), text.size(), 0);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }
  std::string exactly(std::size_t size) const {
    std::string text;
    while (text.size() < size) {
      const auto more = some(size - text.size());
      if (more.empty()) break;
      text += more;
    }
    return text;
  }
  std::string all() const {
    std::string text;
    for (auto more = some(); !more.empty(); more = some()) text += more;
    return text;
  }
  std::string head() const {
    std::string text;
    while (!text.ends_with("\r\n\r\n")) {
      const auto more = some(1);
      if (more.empty()) break;
      text += more;
    }
    return text;
  }
  void finish_sending() const { ::shutdown(fd_.get(), SHUT_WR); }
  void reset() {
    const linger hard{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    fd_.reset();
  }
  /// True when there is nothing to read for this long.
  bool is_silent(std::chrono::milliseconds time) const {
    pollfd on{fd_.get(), POLLIN, 0};
    return ::poll(&on, 1, static_cast<int>(time.count())) == 0;
  }
  int get() const { return fd_.get(); }

 private:
  descriptor fd_;
};

inline peer connect_to(std::uint16_t port) {
  descriptor made{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const auto address = loopback(port);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(made.get(), generic, sizeof address) != 0) made.reset();
  return peer{std::move(made)};
}

/// A server on the loopback; each connection gets a thread, and all of them end with it.
class server {
 public:
  explicit server(std::function<void(peer&)> act) : act_{std::move(act)} {
    std::tie(socket_, port_) = listening();
    acceptor_ = std::thread{[this] { accept(); }};
  }
  server(const server&) = delete;
  server& operator=(const server&) = delete;
  ~server() {
    ::shutdown(socket_.get(), SHUT_RDWR);
    acceptor_.join();
    for (auto& one : threads_) one.join();
  }
  std::uint16_t port() const { return port_; }
  std::string text() const { return std::to_string(port_); }
  unsigned accepted() {
    const std::lock_guard held{guard_};
    return accepted_;
  }

 private:
  void accept() {
    for (;;) {
      descriptor one{::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
      if (!one) return;
      const std::lock_guard held{guard_};
      ++accepted_;
      threads_.emplace_back([this, client = peer{std::move(one)}]() mutable { act_(client); });
    }
  }

  std::function<void(peer&)> act_;
  descriptor socket_;
  std::uint16_t port_{0};
  std::mutex guard_;
  unsigned accepted_{0};
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

/// Says what it hears.
inline void echo(peer& client) {
  for (auto text = client.some(); !text.empty() && client.send(text); text = client.some()) {
  }
}

/// The addresses of the loopback for every name: what the machine is told of "localhost".
inline name_answer all_are_loopback(const std::string&) {
  return std::vector{ip_address{.kind = ip_address::family::v4, .bytes = {127, 0, 0, 1}}};
}

inline std::vector<egress_entry> entries(std::initializer_list<std::string> texts) {
  std::vector<egress_entry> list;
  for (const auto& text : texts) list.push_back(parse_egress_entry(text).value());
  return list;
}

/// A proxy on the loopback, and what it said.
class proxied {
 public:
  explicit proxied(egress_settings settings, std::uint16_t loopback_port = 0) {
    auto [socket, port] = listening();
    port_ = port;
    std::vector<egress_listener> listeners;
    listeners.push_back({std::move(socket), loopback_port});
    auto made = egress_proxy::start(std::move(settings), std::move(listeners),
                                    [this](const egress_attempt& one) { keep(one); });
    if (!made) std::abort();
    proxy_ = std::make_unique<egress_proxy>(std::move(*made));
  }

  std::uint16_t port() const { return port_; }
  peer connect() const { return connect_to(port_); }
  void end() { proxy_.reset(); }

  /// The attempts that are over, once there are so many.
  std::vector<egress_attempt> ended(std::size_t count) {
    std::unique_lock held{guard_};
    changed_.wait_for(held, patience, [&] { return ended_.size() >= count; });
    REQUIRE(ended_.size() == count);
    return ended_;
  }
  std::size_t opened() {
    const std::lock_guard held{guard_};
    return opened_;
  }

 private:
  void keep(const egress_attempt& one) {
    const std::lock_guard held{guard_};
    if (one.is_open) {
      ++opened_;
    } else {
      ended_.push_back(one);
    }
    changed_.notify_all();
  }

  std::uint16_t port_{0};
  std::mutex guard_;
  std::condition_variable changed_;
  std::vector<egress_attempt> ended_;
  std::size_t opened_{0};
  std::unique_ptr<egress_proxy> proxy_;
};

inline std::string connect_request(std::string_view host, std::string_view port) {
  return "CONNECT " + std::string{host} + ":" + std::string{port} + " HTTP/1.1\r\nHost: x\r\n\r\n";
}

inline std::string two_bytes(std::size_t value) {
  return {static_cast<char>(value >> 8U), static_cast<char>(value & 255U)};
}

inline std::string socks_request_for(std::string_view host, std::uint32_t port) {
  return std::string{"\5\1\0\3", 4} + static_cast<char>(host.size()) + std::string{host} +
         two_bytes(port);
}

inline constexpr std::string_view socks_hello{"\5\1\0", 3};

inline std::string extension(unsigned type, std::string_view body) {
  return two_bytes(type) + two_bytes(body.size()) + std::string{body};
}

inline std::string server_name(std::string_view name) {
  const auto entry = std::string(1, '\0') + two_bytes(name.size()) + std::string{name};
  return extension(0, two_bytes(entry.size()) + entry);
}

inline std::string record(std::string_view body) {
  return std::string{"\x16\3\1", 3} + two_bytes(body.size()) + std::string{body};
}

/// A ClientHello message with these extensions.
inline std::string hello_message(std::string_view extensions) {
  std::string body = "\3\3" + std::string(32, 'r') + std::string(1, '\0');
  body += two_bytes(2) + "\x13\1" + std::string{"\1\0", 2};
  body += two_bytes(extensions.size()) + std::string{extensions};
  return std::string{"\1\0", 2} + two_bytes(body.size()) + body;
}

inline std::string hello_for(std::string_view name) {
  return record(hello_message(server_name(name)));
}

/// The code in the body of a refusal by HTTP, or nothing.
inline std::string code_in(std::string_view response) {
  constexpr std::string_view key = "\"error\":\"";
  const auto at = response.find(key);
  if (at == std::string_view::npos) return {};
  response.remove_prefix(at + key.size());
  return std::string{response.substr(0, response.find('"'))};
}

}  // namespace egress_test
