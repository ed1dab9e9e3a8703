// The bounds of the proxy: time, connections, bytes. Each is told in words where somebody can still read.
#include <chrono>
#include <string>

#include "tunnels.hpp"

using namespace egress_test;

TEST_CASE("a_client_that_never_says_what_it_wants_is_let_go") {
  server to{&echo};
  proxied proxy{settings_for(to, {.idle = 300ms})};
  const auto silent = proxy.connect();
  const auto slow = proxy.connect();
  CHECK(slow.send("CONNECT a.exam"));
  const auto half = proxy.connect();
  CHECK(half.send(std::string_view{"\5\1\0\5\1", 5}));
  check_served(proxy, to.text());
  CHECK(silent.all().empty());
  CHECK(code_in(all_of(slow)) == "InvalidRequest");
  CHECK(half.all() == std::string{"\5\0", 2});
}

TEST_CASE("a_client_that_sends_a_byte_at_a_time_gets_no_more_time_for_it") {
  proxied proxy{egress_settings{.limits = {.idle = 300ms}}};
  const auto client = proxy.connect();
  const auto begun = std::chrono::steady_clock::now();
  for (unsigned i = 0; i < 200 && client.send("G"); ++i) std::this_thread::sleep_for(20ms);
  CHECK(std::chrono::steady_clock::now() - begun < 3900ms);
}

TEST_CASE("a_server_that_never_answers_is_cut_off_after_the_idle_time") {
  server to{[](peer& client) { (void)client.all(); }};
  proxied proxy{settings_for(to, {.idle = 300ms})};
  const auto client = tunnel(proxy, to.text());
  CHECK(client.send("x"));
  CHECK(client.all().empty());
  const auto over = proxy.ended(1).front();
  REQUIRE(over.refused.has_value());
  CHECK(over.refused->error == code::egress_limit);
  CHECK((over.duration >= 300ms && over.duration < 5s));
}

TEST_CASE("a_connection_that_is_never_idle_is_cut_off_after_the_whole_time") {
  server to{&echo};
  proxied proxy{settings_for(to, {.idle = 5s, .total = 500ms})};
  const auto client = tunnel(proxy, to.text());
  while (client.send("x") && !client.some().empty()) std::this_thread::sleep_for(10ms);
  const auto over = proxy.ended(1).front();
  REQUIRE(over.refused.has_value());
  CHECK(over.refused->error == code::egress_limit);
  CHECK((over.duration >= 500ms && over.duration < 4s));
}

TEST_CASE("an_address_that_does_not_accept_is_given_up") {
  auto [full, port] = listening();
  REQUIRE(::listen(full.get(), 0) == 0);
  std::vector<peer> filling;
  for (unsigned i = 0; i < 4; ++i) {  // the queue of one is full after two
    descriptor made{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    const auto address = loopback(port);
    (void)::connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    filling.emplace_back(std::move(made));
  }
  proxied proxy{egress_settings{.list = entries({"127.0.0.1:" + std::to_string(port)}),
                                .limits = {.idle = 300ms}}};
  const auto client = proxy.connect();
  CHECK(client.send(connect_request("127.0.0.1", std::to_string(port))));
  const auto said = client.all();
  CHECK(code_in(said) == "HostUnreachable");
  CHECK(said.contains("did not answer in time"));
}

TEST_CASE("no_more_connections_than_the_limit_are_open_and_the_others_are_told_so") {
  server to{&echo};
  proxied proxy{settings_for(to, {.connections = 2})};
  auto first = tunnel(proxy, to.text());
  const auto second = tunnel(proxy, to.text());
  for (unsigned i = 0; i < 100; ++i) {
    const auto third = proxy.connect();
    const auto said = all_of(third);
    REQUIRE(said.starts_with("HTTP/1.1 503 "));
    REQUIRE(code_in(said) == "EgressLimit");
  }
  CHECK(proxy.ended(100).front().refused->error == code::egress_limit);
  first.reset();
  (void)proxy.ended(101);
  check_served(proxy, to.text());
}

TEST_CASE("no_more_bytes_leave_than_may_of_all_connections_together") {
  std::atomic<std::size_t> reached{0};
  server to{[&](peer& client) {
    for (auto text = client.some(); !text.empty(); text = client.some()) reached += text.size();
  }};
  proxied proxy{settings_for(to, {.bytes = 1000})};
  const auto first = tunnel(proxy, to.text());
  const auto second = tunnel(proxy, to.text());
  CHECK(first.send(std::string(600, 'x')));
  while (reached < 600) std::this_thread::sleep_for(5ms);
  CHECK(second.send(std::string(401, 'x')));
  CHECK(second.all().empty());
  CHECK(first.send(std::string(400, 'x')));
  while (reached < 1000) std::this_thread::sleep_for(5ms);
  CHECK(first.send("x"));
  CHECK(first.all().empty());
  std::this_thread::sleep_for(50ms);
  CHECK(reached == 1000);
  for (const auto& one : proxy.ended(2)) CHECK(one.refused->error == code::egress_limit);
}
