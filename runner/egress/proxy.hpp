// The egress proxy: the one way out of a sandbox that has no other. It accepts on listening sockets
// that were made inside and handed out, says yes or no by the egress list, and connects from here.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <vector>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/runner/egress.hpp>

#include "egress/names.hpp"

namespace pinfold {

struct egress_settings {
  std::vector<egress_entry> list{};
  tls_names names{tls_names::required};
  egress_limits limits{};
  name_lookup lookup{&ask_the_machine};
};

/// A listening socket of the sandbox's loopback, and what it serves: the proxy, or one port of the
/// host's own loopback.
struct egress_listener {
  descriptor socket;
  std::uint16_t loopback{
      0};  ///< 0: HTTP CONNECT, plain HTTP and SOCKS5, told apart by the first byte
};

/// One proxy for one run, on a thread of its own that takes no signal; nothing it does raises SIGPIPE
/// elsewhere. What a connection may take of memory is bounded, and nothing that a client, a server or
/// a resolver does holds up the others.
class egress_proxy {
 public:
  /// Gets each attempt when it is let through (`is_open`), and when it is refused or has ended. Called
  /// on the proxy's thread; must not throw.
  using sink = std::function<void(const egress_attempt&)>;

  /// Begins to serve. Error: the errno for which there is no thread or no event loop.
  [[nodiscard]] static std::expected<egress_proxy, int> start(
      egress_settings settings, std::vector<egress_listener> listeners, sink to);

  egress_proxy(egress_proxy&&) noexcept;
  egress_proxy& operator=(egress_proxy&&) = delete;
  /// Cuts off what is open, tells the sink, and waits for the thread.
  ~egress_proxy();

 private:
  struct state;
  explicit egress_proxy(std::unique_ptr<state> now) noexcept;
  std::unique_ptr<state> now_;
};

}  // namespace pinfold
