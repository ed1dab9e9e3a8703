// One connection from inside: its two sockets, how long it may wait, and what is said of it at the
// end. Everything here happens on the proxy's one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/egress.hpp>
#include <pinfold/refusal.hpp>

#include "egress/asio.hpp"
#include "egress/fault.hpp"
#include "egress/http_body.hpp"
#include "egress/pipe_ends.hpp"
#include "egress/service.hpp"

namespace pinfold::egress_net {

/// What a client speaks decides how it is told no.
enum class tongue : std::uint8_t { nothing, http, socks, tls };

class connection : public std::enable_shared_from_this<connection> {
 public:
  using clock = std::chrono::steady_clock;

  connection(service& all, tcp::socket from);
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection();

  /// From the first byte to the last. Loopback: to this port of the host's own.
  [[nodiscard]] task<> serve();
  [[nodiscard]] task<> serve_loopback(std::uint16_t port);
  /// Too many are open: says so and closes.
  [[nodiscard]] task<> turn_away();

  /// The proxy ends: whatever is waited for ends with it.
  void stop();

 private:
  /// Why something that was waited for did not come.
  enum class cut : std::uint8_t { no, too_slow, idle, too_long, over_budget, stopped };
  enum class way : std::uint8_t { out, in };

  // waiting (connection.cpp)
  /// For a client to say what it wants, a name to resolve, a server to accept.
  [[nodiscard]] std::chrono::milliseconds patience() const;
  void wait_at_most(std::chrono::milliseconds limit);
  void keep_alive();
  void wake_the_watch();
  void interrupt(cut why);
  /// Whether nothing more is to be begun: what was under way when the word came may have gone well.
  [[nodiscard]] bool is_cut() const {
    return cut_ != cut::no && !(is_parting_ && cut_ != cut::stopped);
  }
  [[nodiscard]] task<> watch();
  [[nodiscard]] task<bool> read_more(std::string& buffer, std::size_t most);
  [[nodiscard]] task<bool> write(tcp::socket& to, std::string_view bytes);
  [[nodiscard]] task<> linger();
  [[nodiscard]] task<> tell_client(refusal why);
  void finish();

  // asking (asked.cpp)
  [[nodiscard]] task<> dispatch();
  [[nodiscard]] task<> serve_http(std::string buffer);
  [[nodiscard]] task<> serve_socks(std::string buffer);
  [[nodiscard]] task<bool> check_hello(std::string& buffer);
  [[nodiscard]] task<> refuse_bytes(egress_bytes::fault what);

  // dialling (dial.cpp)
  /// Nothing when `server_` is connected; else why it is not.
  [[nodiscard]] task<std::optional<refusal>> reach(std::string_view host, std::uint32_t port);
  [[nodiscard]] task<std::optional<refusal>> try_addresses(const std::vector<ip_address>& all,
                                                           std::uint16_t port);
  [[nodiscard]] task<name_answer> addresses_of(const host_text& host);
  [[nodiscard]] task<error_code> dial(const ip_address& address, std::uint16_t port);

  // carrying (relay.cpp)
  [[nodiscard]] task<> carry_both(std::string first);
  [[nodiscard]] task<> carry_request(std::string head, egress_bytes::body_reader body,
                                     std::string rest);
  [[nodiscard]] task<> carry(way direction);
  [[nodiscard]] task<> carry_spliced(way direction, pipe_ends through);
  [[nodiscard]] task<bool> empty_into(way direction, const pipe_ends& through, std::size_t bytes);
  [[nodiscard]] task<> carry_out(std::string first);
  [[nodiscard]] task<> carry_body(egress_bytes::body_reader body, std::string rest);
  [[nodiscard]] task<bool> pass_on(way direction, std::string_view bytes);
  void start_out(task<> out);
  [[nodiscard]] task<> out_is_done();
  void let_through();
  void reset_both();

  service& all_;
  tcp::socket client_;
  tcp::socket server_;
  asio::steady_timer watch_;  ///< wakes at `due_` or `last_`, whichever is first
  asio::steady_timer wake_;   ///< for what is waited for beside the sockets
  clock::time_point began_{clock::now()};
  clock::time_point due_;
  clock::time_point last_;
  cut cut_{cut::no};
  cut at_due_{cut::too_slow};
  bool is_over_{false};
  bool is_parting_{false};  ///< the last words to the client are under way
  tongue speaks_{tongue::nothing};
  bool is_out_done_{true};  ///< nothing is carried out at this moment, or nothing more
  std::optional<host_text> host_;
  egress_attempt attempt_;
};

}  // namespace pinfold::egress_net
