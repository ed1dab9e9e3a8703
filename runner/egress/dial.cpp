// From what was asked for to a connected socket: decided, resolved, each address checked, and the one
// that was checked connected to.
#include <algorithm>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <utility>

#include "egress/connection.hpp"
#include "egress/decide.hpp"

namespace pinfold::egress_net {
namespace {

constexpr std::size_t most_addresses = 8;
/// What is kept of a host that nobody has decided on.
constexpr std::size_t most_host_bytes = 300;

tcp::endpoint endpoint_of(const ip_address& address, std::uint16_t port) {
  if (address.kind == ip_address::family::v6) {
    asio::ip::address_v6::bytes_type bytes;
    std::ranges::copy(address.bytes, bytes.begin());
    return {asio::ip::address_v6{bytes}, port};
  }
  asio::ip::address_v4::bytes_type bytes;
  std::copy_n(address.bytes.begin(), bytes.size(), bytes.begin());
  return {asio::ip::address_v4{bytes}, port};
}

}  // namespace

/// A literal is its own address; a name that did not lead anywhere a moment ago is asked for on the
/// pool, for as long as there is time.
task<name_answer> connection::addresses_of(const host_text& host) {
  if (const auto literal = address_in(host)) co_return std::vector{*literal};
  if (auto recent = all_.recent.find(host.text(), clock::now())) co_return std::move(*recent);
  const auto slot = std::make_shared<std::optional<name_answer>>();
  auto wake = [slot, weak = weak_from_this()](name_answer answer) {
    *slot = std::move(answer);
    if (const auto self = weak.lock()) self->wake_.cancel();
  };
  all_.names.ask(std::string{host.text()}, [wake, mail = all_.mail](name_answer answer) {
    mail->deliver([wake, answer = std::move(answer)] { wake(answer); });
  });
  while (!*slot && cut_ == cut::no) {
    error_code ignored;
    wake_.expires_at(clock::time_point::max());
    co_await wake_.async_wait(into(ignored));
  }
  if (!*slot) co_return std::unexpected{std::string{"the name did not resolve in time"}};
  if (**slot) all_.recent.keep(host.text(), ***slot, clock::now());
  co_return std::move(**slot);
}

task<error_code> connection::dial(const ip_address& address, std::uint16_t port) {
  const auto to = endpoint_of(address, port);
  error_code wrong;
  server_.close(wrong);
  server_.open(to.protocol(), wrong);
  if (wrong) co_return wrong;
  if (is_cut()) co_return asio::error::operation_aborted;
  co_await server_.async_connect(to, into(wrong));
  if (wrong) co_return wrong;
  error_code ignored;
  server_.set_option(tcp::no_delay{true}, ignored);
  client_.set_option(tcp::no_delay{true}, ignored);
  co_return wrong;
}

/// In order; the last line denies:
///  1. an address may be connected to, and answers -> reached
///  2. none may be connected to                    -> refuse, naming the first
///  3. anything else                               -> refuse: it does not answer
task<std::optional<refusal>> connection::try_addresses(const std::vector<ip_address>& all,
                                                       std::uint16_t port) {
  auto why = refused_connection(code::host_unreachable, attempt_.host, port);
  std::optional<refusal> forbidden;
  bool was_dialled = false;
  for (const auto& address : all | std::views::take(most_addresses)) {
    if (auto may = decide_address(all_.settings.list, *host_, port, address); !may) {
      if (!forbidden) forbidden = std::move(may.error());
      continue;
    }
    was_dialled = true;
    const auto text = text_of(address) + ":" + std::to_string(port);
    const auto wrong = co_await dial(address, port);
    if (!wrong) {
      attempt_.address = text;
      co_return std::nullopt;
    }
    why.detail = text + ": " + (cut_ == cut::no ? wrong.message() : "it did not answer in time");
    if (cut_ != cut::no) break;
  }
  if (forbidden && !was_dialled) co_return forbidden;
  co_return why;
}

/// What the list does not hold is not even resolved.
task<std::optional<refusal>> connection::reach(std::string_view host, std::uint32_t port) {
  const auto canonical = parse_host(host);
  attempt_.host = canonical ? canonical->text() : host.substr(0, most_host_bytes);
  attempt_.port = port;
  auto decided = decide_connection(all_.settings.list, host, port);
  if (!decided) co_return std::move(decided.error());
  host_ = *decided;
  wait_at_most(patience());
  const auto addresses = co_await addresses_of(*host_);
  if (!addresses) {
    co_return refused_connection(code::host_unreachable, attempt_.host, port, addresses.error());
  }
  co_return co_await try_addresses(*addresses, static_cast<std::uint16_t>(port));
}

/// The host's own loopback answers on one of its two addresses; both are on the list by the port. A
/// client that cannot be told why finds its connection reset.
task<> connection::serve_loopback(std::uint16_t port) {
  auto self = shared_from_this();
  asio::co_spawn(all_.loop, [self]() -> task<> { co_await self->watch(); }, asio::detached);
  attempt_.protocol = egress_protocol::loopback;
  try {
    auto why = co_await reach("127.0.0.1", port);
    if (why && cut_ == cut::no) why = co_await reach("[::1]", port);
    if (why) {
      attempt_.refused = std::move(why);
      reset_both();
    } else {
      co_await carry_both({});
    }
  } catch (const std::exception&) {  // out of memory: this connection alone
    cut_ = cut::stopped;
  }
  finish();
}

}  // namespace pinfold::egress_net
