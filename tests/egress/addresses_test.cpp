// Which addresses are the public internet's, which may be connected to, and how the proxy comes to one.
#include <atomic>

#include "egress/address.hpp"
#include "egress/decide.hpp"

#include "tunnels.hpp"

using namespace egress_test;
using namespace pinfold::egress_bytes;

namespace {

constexpr ip_address v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
  return {.kind = ip_address::family::v4, .bytes = {a, b, c, d}};
}

ip_address v6(std::string_view text) {
  return address_in(parse_host("[" + std::string{text} + "]").value()).value();
}

static_assert(!special_use_of(v4(127, 0, 0, 1)).empty());
static_assert(!special_use_of(v4(169, 254, 169, 254)).empty());
static_assert(special_use_of(v4(93, 184, 216, 34)).empty());

}  // namespace

TEST_CASE("an_address_that_is_not_the_public_internets_is_known_as_such") {
  for (const auto& one : {v4(0, 0, 0, 0),         v4(0, 1, 2, 3),         v4(10, 0, 0, 1),
                          v4(10, 255, 255, 255),  v4(100, 64, 0, 1),      v4(100, 127, 255, 255),
                          v4(100, 100, 100, 200), v4(127, 0, 0, 1),       v4(127, 255, 255, 254),
                          v4(169, 254, 0, 1),     v4(169, 254, 169, 254), v4(169, 254, 170, 2),
                          v4(172, 16, 0, 1),      v4(172, 31, 255, 255),  v4(192, 0, 0, 192),
                          v4(192, 0, 2, 1),       v4(192, 168, 0, 1),     v4(198, 18, 0, 1),
                          v4(198, 19, 255, 255),  v4(198, 51, 100, 1),    v4(203, 0, 113, 9),
                          v4(168, 63, 129, 16),   v4(224, 0, 0, 1),       v4(239, 255, 255, 250),
                          v4(240, 0, 0, 1),       v4(255, 255, 255, 255)}) {
    INFO(text_of(one));
    CHECK_FALSE(special_use_of(one).empty());
  }
  for (const auto& one : {v4(1, 1, 1, 1), v4(9, 255, 255, 255), v4(11, 0, 0, 0), v4(100, 63, 0, 1),
                          v4(100, 128, 0, 1), v4(126, 255, 255, 255), v4(128, 0, 0, 1),
                          v4(169, 253, 0, 1), v4(172, 15, 0, 1), v4(172, 32, 0, 1),
                          v4(192, 167, 0, 1), v4(223, 255, 255, 255), v4(168, 63, 129, 17)}) {
    INFO(text_of(one));
    CHECK(special_use_of(one).empty());
  }
  for (const std::string_view one : {"::",
                                     "::1",
                                     "::2",
                                     "::127.0.0.1",
                                     "::ffff:127.0.0.1",
                                     "::ffff:93.184.216.34",
                                     "::ffff:0:127.0.0.1",
                                     "64:ff9b::7f00:1",
                                     "64:ff9b::5db8:d822",
                                     "64:ff9b:1::1",
                                     "100::1",
                                     "fc00::1",
                                     "fd00:ec2::254",
                                     "fe80::1",
                                     "febf::1",
                                     "fec0::1",
                                     "ff02::1",
                                     "2001::1",
                                     "2001:0:7f00:1::",
                                     "2001:db8::1",
                                     "2002:7f00:1::1",
                                     "2002:a00:1::1",
                                     "3fff::1",
                                     "4000::1",
                                     "5f00::1",
                                     "1fff::1"}) {
    INFO(one);
    CHECK_FALSE(special_use_of(v6(one)).empty());
  }
  for (const std::string_view one :
       {"2606:2800:220:1::1", "2a00::1", "2400:cb00::1", "2001:4860::8888"}) {
    INFO(one);
    CHECK(special_use_of(v6(one)).empty());
  }
}

TEST_CASE("an_address_is_written_as_the_list_spells_it") {
  CHECK(text_of(v4(127, 0, 0, 1)) == "127.0.0.1");
  for (const std::string_view one : {"::1", "2001:db8::1", "::ffff:127.0.0.1", "1:0:0:2::3"}) {
    CHECK(text_of(v6(one)) == "[" + std::string{one} + "]");
  }
}

TEST_CASE("an_address_is_allowed_when_it_is_public_or_on_the_list_itself_with_that_port") {
  const auto list = entries({"a.example:80", "127.0.0.1:80", "[::1]:81"});
  const auto host = parse_host("a.example").value();
  const auto may = [&](const ip_address& one, std::uint16_t port) {
    return decide_address(list, host, port, one).has_value();
  };
  CHECK(may(v4(93, 184, 216, 34), 80));
  CHECK(may(v4(127, 0, 0, 1), 80));
  CHECK(may(v6("::1"), 81));
  CHECK_FALSE(may(v4(127, 0, 0, 1), 81));
  CHECK_FALSE(may(v4(127, 0, 0, 2), 80));
  CHECK_FALSE(may(v6("::ffff:127.0.0.1"), 80));
  CHECK_FALSE(may(v6("::1"), 80));
  const auto why = decide_address(list, host, 80, v4(10, 0, 0, 1)).error();
  CHECK(why.error == code::address_denied);
  CHECK(why.resolved == "10.0.0.1");
}

TEST_CASE("a_denied_host_is_told_as_a_refusal_and_is_never_asked_for") {
  std::atomic<unsigned> asked{0};
  egress_settings settings{.list = entries({"a.example:443", "*.b.example:8443"}),
                           .lookup = [&](const std::string& name) {
                             ++asked;
                             return all_are_loopback(name);
                           }};
  proxied proxy{settings};
  for (const auto& request :
       {connect_request("evil.example", "443"), connect_request("a.example", "444"),
        connect_request("b.example", "8443"),
        std::string{"GET http://evil.example/ HTTP/1.1\r\n\r\n"}}) {
    const auto client = proxy.connect();
    CHECK(client.send(request));
    const auto said = client.all();
    CHECK(said.starts_with("HTTP/1.1 403 Forbidden\r\n"));
    CHECK(code_in(said) == "NetworkDenied");
    CHECK(said.contains("\"boundary\":\"a.example:443 *.b.example:8443\""));
  }
  CHECK(asked == 0);
}

TEST_CASE("a_name_that_leads_to_an_address_inside_is_refused_and_nothing_is_connected_to") {
  server to{&echo};
  const auto settings_with = [&](std::vector<ip_address> addresses) {
    return egress_settings{.list = entries({"a.example:" + to.text()}),
                           .lookup = [addresses](const std::string&) { return addresses; }};
  };
  using family = ip_address::family;
  const ip_address loopback_v4{family::v4, {127, 0, 0, 1}};
  ip_address loopback_v6{family::v6, {}};
  loopback_v6.bytes[15] = 1;
  ip_address mapped{family::v6, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1}};
  ip_address nat64{family::v6, {0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, 127, 0, 0, 1}};
  const ip_address metadata{family::v4, {169, 254, 169, 254}};
  for (const auto& one : {loopback_v4, loopback_v6, mapped, nat64, metadata}) {
    proxied proxy{settings_with({one, one})};
    const auto client = proxy.connect();
    CHECK(client.send(connect_request("a.example", to.text())));
    CHECK(code_in(client.all()) == "AddressDenied");
  }
  CHECK(to.accepted() == 0);
}

TEST_CASE("the_address_that_is_connected_to_is_the_one_that_was_checked") {
  server to{&echo};
  std::atomic<unsigned> asked{0};
  egress_settings settings{
      .list = entries({"a.example:" + to.text(), "127.0.0.1:" + to.text()}),
      .names = tls_names::optional,
      .lookup = [&](const std::string&) -> name_answer {  // answers otherwise each time
        ++asked;
        const auto last = static_cast<std::uint8_t>(asked == 1 ? 1 : 2);
        return std::vector{ip_address{ip_address::family::v4, {10, 0, 0, 1}},
                           ip_address{ip_address::family::v4, {127, 0, 0, last}}};
      }};
  proxied proxy{settings};
  const auto client = tunnel(proxy, to.text());
  CHECK(client.send("x"));
  CHECK(client.exactly(1) == "x");
  CHECK(asked == 1);
}

TEST_CASE("a_name_without_an_answer_is_unreachable") {
  egress_settings settings{.list = entries({"a.example:443"}),
                           .lookup = [](const std::string&) -> name_answer {
                             return std::unexpected{std::string{"no such name"}};
                           }};
  proxied proxy{settings};
  const auto client = proxy.connect();
  CHECK(client.send(connect_request("a.example", "443")));
  const auto said = client.all();
  CHECK(said.starts_with("HTTP/1.1 502 "));
  CHECK(code_in(said) == "HostUnreachable");
  CHECK(said.contains("no such name"));
}

TEST_CASE("a_name_that_led_somewhere_is_asked_for_once_in_a_while_and_one_that_did_not_each_time") {
  server to{&echo};
  std::atomic<unsigned> asked{0};
  auto settings = settings_for(to);
  settings.lookup = [&](const std::string& name) -> name_answer {
    if (++asked == 1) return std::unexpected{std::string{"not yet"}};
    return all_are_loopback(name);
  };
  proxied proxy{settings};
  const auto early = proxy.connect();
  CHECK(early.send(connect_request("a.example", to.text())));
  CHECK(code_in(early.all()) == "HostUnreachable");
  for (unsigned i = 0; i < 5; ++i) check_served(proxy, to.text());
  CHECK(asked == 2);
}

TEST_CASE("an_answer_is_kept_for_a_few_seconds_and_not_too_many_are") {
  const recent_names::clock::time_point now{std::chrono::hours{1}};
  recent_names recent;
  recent.keep("a.example", {v4(1, 1, 1, 1)}, now);
  CHECK(recent.find("a.example", now + 4999ms) == std::vector{v4(1, 1, 1, 1)});
  CHECK_FALSE(recent.find("a.example", now + 5s));
  CHECK_FALSE(recent.find("b.example", now));
  for (std::size_t i = 0; i < 2 * recent_names::most_kept; ++i) {
    recent.keep(std::to_string(i), {}, now);
  }
  CHECK(recent.find("a.example", now));
  CHECK_FALSE(recent.find(std::to_string(recent_names::most_kept), now));
  recent.keep("b.example", {}, now + 5s);  // the others make way
  CHECK(recent.find("b.example", now + 5s));
}

TEST_CASE("the_names_of_the_machine_are_asked_for_by_the_machine") {
  const auto found = ask_the_machine("localhost");
  REQUIRE(found.has_value());
  for (const auto& one : *found) CHECK(special_use_of(one) == "loopback");
  CHECK_FALSE(ask_the_machine("no-such-name.invalid").has_value());
}
