// The egress of one run: its proxy from the moment that the sandbox hands out its listeners, and what
// it said.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/refusal.hpp>
#include <pinfold/runner/egress.hpp>
#include <pinfold/runner/sinks.hpp>

#include "egress/ledger.hpp"
#include "egress/proxy.hpp"

namespace pinfold {

/// The port of the proxy on the loopback inside: one that is none of the host's that were asked for,
/// and needs no privilege.
[[nodiscard]] std::uint16_t proxy_port_of(const egress_request& request) noexcept;

class run_egress {
 public:
  /// What `events` is told of is decided here; the same object has to be given later.
  run_egress(const egress_request& request, const sinks& events)
      : request_{request}, ledger_{events.on_egress ? news_are::told : news_are::left_out} {}
  run_egress(const run_egress&) = delete;
  run_egress& operator=(const run_egress&) = delete;

  /// The ports that have to be listened on inside: the proxy's, then those of the host's loopback.
  [[nodiscard]] std::vector<std::uint16_t> ports() const;

  /// Begins to serve the sockets, one for each of the ports and in their order. Answers why it cannot.
  [[nodiscard]] std::optional<refusal> serve(std::vector<descriptor> listeners);

  /// Becomes readable when there is something to tell.
  [[nodiscard]] int news() const noexcept { return ledger_.news(); }
  /// On the run's own thread.
  void tell(const sinks& events) { ledger_.take_news(events.on_egress); }

  /// Ends the proxy, tells the last news, and says what came of it all, but for the list.
  [[nodiscard]] egress_report finish(const sinks& events);

 private:
  egress_request request_;
  egress_ledger ledger_;  // outlives the proxy, which writes to it
  std::optional<egress_proxy> proxy_;
};

}  // namespace pinfold
