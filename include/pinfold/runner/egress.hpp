// The egress of one run: which hosts it may reach through the proxy, within which limits, and what
// came of it. Plain data; the engine decides (pinfold/egress.hpp), runner/egress enforces.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/egress.hpp>
#include <pinfold/refusal.hpp>

namespace pinfold {

/// Whether a tunnel must open with a TLS hello that names its host. `optional` also lets through
/// what is no TLS, names nobody or names somebody in secret; a name that is there must be the host's
/// either way.
enum class tls_names : std::uint8_t { required, optional };

/// What bounds the connections of one run.
struct egress_limits {
  unsigned connections{256};  ///< at the same time; beyond it the answer is a refusal
  std::chrono::milliseconds idle{std::chrono::minutes{2}};  ///< without a byte either way
  std::chrono::milliseconds total{std::chrono::hours{1}};   ///< of one connection
  std::optional<std::uint64_t>
      bytes{};  ///< that leave, of all connections together; none: no limit
};

/// What the harness lets a run reach while its network is open. Without an entry of either kind there
/// is no list, and the network is as open as its gate.
struct egress_request {
  std::vector<egress_entry> hosts{};
  /// Ports of the host's own loopback, each found at the same port of the loopback inside.
  std::vector<std::uint16_t> loopback{};
  tls_names names{tls_names::required};
  egress_limits limits{};

  [[nodiscard]] bool is_any() const noexcept { return !hosts.empty() || !loopback.empty(); }
};

/// The list that the engine decides by: the entries, and every name of the loopback's ports.
[[nodiscard]] inline std::vector<egress_entry> egress_list_of(const egress_request& request) {
  auto list = request.hosts;
  for (const auto port : request.loopback) {
    for (const std::string_view host : {"localhost", "127.0.0.1", "[::1]"}) {
      const auto entry = parse_egress_entry(std::string{host} + ":" + std::to_string(port));
      if (entry) list.push_back(*entry);
    }
  }
  return list;
}

enum class egress_protocol : std::uint8_t {
  unknown,   ///< it ended before it said
  connect,   ///< a tunnel by HTTP CONNECT
  http,      ///< one plain HTTP request
  socks5,    ///< a tunnel by SOCKS5
  loopback,  ///< a port of the host's own loopback
};

[[nodiscard]] constexpr std::string_view name_of(egress_protocol value) noexcept {
  switch (value) {
    case egress_protocol::unknown:
      return "unknown";
    case egress_protocol::connect:
      return "connect";
    case egress_protocol::http:
      return "http";
    case egress_protocol::socks5:
      return "socks5";
    case egress_protocol::loopback:
      return "loopback";
  }
  return "unknown";
}

/// One connection that was asked for.
struct egress_attempt {
  std::string host;  ///< canonical once it was decided on; before that as it was asked for
  std::uint32_t port{0};
  egress_protocol protocol{egress_protocol::unknown};
  std::string address;  ///< what was connected to; empty when nothing was
  /// Why it was not let through, or was cut off later.
  std::optional<refusal> refused;
  std::uint64_t sent{0};                  ///< bytes that left
  std::uint64_t received{0};              ///< bytes that came in
  std::chrono::milliseconds started{0};   ///< since the proxy began
  std::chrono::milliseconds duration{0};  ///< 0 while it is open
  bool is_open{false};                    ///< it was let through, and has not ended
};

/// What came of the egress of one run.
struct egress_report {
  std::vector<std::string> list;  ///< the entries in force
  std::vector<egress_attempt> attempts;
  std::size_t more{0};  ///< attempts that are not listed: the list is cut at `most_attempts`
  std::uint64_t sent{0};
  std::uint64_t received{0};

  static constexpr std::size_t most_attempts = 1000;
};

}  // namespace pinfold
