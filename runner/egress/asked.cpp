// What a client asks for, in each of the three protocols; each ends in `reach`, which decides.
#include <string>
#include <utility>

#include "egress/client_hello.hpp"
#include "egress/connection.hpp"
#include "egress/decide.hpp"
#include "egress/http_body.hpp"
#include "egress/http_head.hpp"
#include "egress/opening.hpp"
#include "egress/socks.hpp"

namespace pinfold::egress_net {

using egress_bytes::fault;
using egress_bytes::opening;

task<> connection::refuse_bytes(fault what) {
  auto why = refused_connection(what.error, attempt_.host, attempt_.port, std::string{what.why});
  if (attempt_.host.empty()) why.path = "the proxy";
  co_await tell_client(std::move(why));
}

/// The first byte says which protocol it is.
task<> connection::dispatch() {
  std::string buffer;
  wait_at_most(patience());
  if (!co_await read_more(buffer, egress_bytes::most_head_bytes)) co_return;
  switch (egress_bytes::opening_of(buffer.front())) {
    case opening::socks5:
      co_return co_await serve_socks(std::move(buffer));
    case opening::tls:
      speaks_ = tongue::tls;
      co_return co_await refuse_bytes(
          {code::invalid_request, "TLS to the proxy itself: it speaks plain HTTP and SOCKS5"});
    case opening::http:
      speaks_ = tongue::http;
      co_return co_await serve_http(std::move(buffer));
    case opening::unknown:
      speaks_ = tongue::http;
      co_await refuse_bytes({code::invalid_request, "neither HTTP nor SOCKS5"});
  }
}

task<> connection::serve_http(std::string buffer) {
  std::size_t size = 0;
  for (std::size_t looked = 0;;) {
    const auto head = egress_bytes::size_of_head(buffer, looked);
    if (!head) co_return co_await refuse_bytes(head.error());
    if (*head) {
      size = **head;
      break;
    }
    looked = buffer.size();
    if (co_await read_more(buffer, egress_bytes::most_head_bytes + 1)) continue;
    if (cut_ == cut::too_slow) {
      co_await refuse_bytes({code::invalid_request, "the request did not come whole in time"});
    }
    co_return;
  }
  auto rest = buffer.substr(size);
  buffer.resize(size);
  const auto request = egress_bytes::read_request(buffer);
  if (!request) co_return co_await refuse_bytes(request.error());
  attempt_.protocol = request->is_connect() ? egress_protocol::connect : egress_protocol::http;
  if (auto why = co_await reach(request->host, request->port)) {
    co_return co_await tell_client(std::move(*why));
  }
  if (!request->is_connect()) {
    auto head = egress_bytes::written_anew(*request, *host_);
    co_await carry_request(std::move(head), egress_bytes::body_reader{*request}, std::move(rest));
    co_return;
  }
  wait_at_most(patience());
  if (!co_await write(client_, "HTTP/1.1 200 Connection established\r\n\r\n")) co_return;
  if (co_await check_hello(rest)) co_await carry_both(std::move(rest));
}

task<> connection::serve_socks(std::string buffer) {
  constexpr std::size_t most = 1024;  // more than both messages can be
  attempt_.protocol = egress_protocol::socks5;
  for (;;) {
    const auto greeting = egress_bytes::read_socks_greeting(buffer);
    if (!greeting) {
      if (co_await write(client_, egress_bytes::socks_no_method())) {
        co_await refuse_bytes(greeting.error());
      }
      co_return;
    }
    if (*greeting) {
      buffer.erase(0, (*greeting)->size);
      break;
    }
    if (!co_await read_more(buffer, most)) co_return;
  }
  if (!co_await write(client_, egress_bytes::socks_method_chosen())) co_return;
  speaks_ = tongue::socks;
  egress_bytes::socks_request asked;
  for (;;) {
    auto request = egress_bytes::read_socks_request(buffer);
    if (!request) co_return co_await refuse_bytes(request.error());
    if (*request) {
      asked = std::move(**request);
      break;
    }
    if (!co_await read_more(buffer, most)) co_return;
  }
  buffer.erase(0, asked.size);
  if (auto why = co_await reach(asked.host, asked.port)) {
    co_return co_await tell_client(std::move(*why));
  }
  wait_at_most(patience());
  const auto yes = egress_bytes::socks_answer(egress_bytes::socks_reply::succeeded);
  if (!co_await write(client_, yes)) co_return;
  if (co_await check_hello(buffer)) co_await carry_both(std::move(buffer));
}

/// Reads the whole hello of a tunnel that needs one, before a byte of it is passed on.
task<bool> connection::check_hello(std::string& buffer) {
  speaks_ = tongue::tls;
  if (all_.settings.names == tls_names::optional) co_return true;
  const auto refuse = [this](std::string_view why) {
    return tell_client(
        refused_connection(code::tls_name_denied, attempt_.host, attempt_.port, std::string{why}));
  };
  for (;;) {
    const auto first = buffer.empty() ? opening::tls : egress_bytes::opening_of(buffer.front());
    if (first != opening::tls) {
      speaks_ = first == opening::http ? tongue::http : tongue::nothing;
      co_await refuse("the tunnel does not open with TLS; --allow-no-sni lets it through");
      co_return false;
    }
    const auto hello = egress_bytes::read_client_hello(buffer);
    if (!hello) {
      co_await refuse(hello.error().why);
      co_return false;
    }
    if (*hello) {
      auto decided = decide_hello(**hello, all_.settings.names, *host_,
                                  static_cast<std::uint16_t>(attempt_.port));
      if (decided) co_return true;
      co_await tell_client(std::move(decided.error()));
      co_return false;
    }
    if (co_await read_more(buffer, egress_bytes::most_hello_bytes)) continue;
    if (cut_ == cut::too_slow) co_await refuse("no whole TLS hello came in time");
    co_return false;
  }
}

}  // namespace pinfold::egress_net
