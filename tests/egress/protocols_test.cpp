// What each protocol carries, and what is decided on the way: TLS hellos, the head of a request.
#include <atomic>

#include "tunnels.hpp"

using namespace egress_test;

namespace {

egress_settings with_names(const server& to) {
  auto settings = settings_for(to);
  settings.names = tls_names::required;
  return settings;
}

/// Says what it got up to the end of a head and a body of five bytes, and answers.
class http_server {
 public:
  explicit http_server(std::size_t body = 0)
      : to{[this, body](peer& client) {
          auto text = client.head();
          text += client.exactly(body);
          {
            const std::lock_guard held{guard_};
            got_ = std::move(text);
          }
          client.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
        }} {}
  std::string got() {
    const std::lock_guard held{guard_};
    return got_;
  }

 private:
  std::mutex guard_;
  std::string got_;

 public:
  server to;
};

}  // namespace

TEST_CASE("a_tunnel_carries_a_hello_for_its_host_byte_for_byte_and_all_that_follows") {
  server to{&echo};
  proxied proxy{with_names(to)};
  const auto hello = hello_for("a.example");
  {
    const auto client = tunnel(proxy, to.text());
    for (const char one : hello) REQUIRE(client.send({&one, 1}));
    CHECK(client.exactly(hello.size()) == hello);
    CHECK(client.send("more"));
    CHECK(client.exactly(4) == "more");
    client.finish_sending();
    CHECK(client.all().empty());
  }
  const auto over = proxy.ended(1).front();
  CHECK((over.host == "a.example" && over.port == to.port()));
  CHECK(over.protocol == egress_protocol::connect);
  CHECK(over.address == "127.0.0.1:" + to.text());
  CHECK_FALSE(over.refused.has_value());
  CHECK((over.sent == hello.size() + 4 && over.received == hello.size() + 4));
  CHECK(proxy.opened() == 1);
}

TEST_CASE("a_hello_may_come_along_with_the_request") {
  server to{&echo};
  proxied proxy{with_names(to)};
  const auto client = proxy.connect();
  const auto hello = hello_for("A.EXAMPLE");
  CHECK(client.send(connect_request("a.example", to.text()) + hello));
  CHECK(client.exactly(established.size()) == established);
  CHECK(client.exactly(hello.size()) == hello);
}

TEST_CASE("a_tunnel_without_a_hello_for_its_host_carries_nothing") {
  std::atomic<std::size_t> reached{0};
  server to{[&](peer& client) { reached += client.all().size(); }};
  proxied proxy{with_names(to)};
  std::size_t count = 0;
  for (const auto& first :
       {hello_for("b.example"), record(hello_message("")),
        record(hello_message(server_name("a.example") + extension(0xfe0d, "x"))),
        std::string{"SSH-2.0-x\r\n"}, std::string{"GET / HTTP/1.1\r\nHost: b.example\r\n\r\n"},
        std::string{"\x16garbage that is no record"}, std::string{"\0\0\0\0", 4}}) {
    const auto client = tunnel(proxy, to.text());
    CHECK(client.send(first));
    const auto said = client.all();
    CHECK((said.empty() || said.front() == '\x15' || code_in(said) == "TlsNameDenied"));
    client.finish_sending();
    const auto over = proxy.ended(++count).back();
    REQUIRE(over.refused.has_value());
    CHECK(over.refused->error == code::tls_name_denied);
    CHECK(over.sent == 0);
  }
  CHECK(proxy.opened() == 0);
  CHECK(reached == 0);
}

TEST_CASE("where_names_are_optional_only_a_hello_for_somebody_else_is_held_back") {
  std::atomic<std::size_t> reached{0};
  server to{[&](peer& client) {
    client.send("server first");
    reached += client.all().size();
  }};
  proxied proxy{settings_for(to)};
  std::size_t count = 0;
  for (const auto& first : {record(hello_message("")), std::string{"SSH-2.0-x\r\n"},
                            hello_for("a.example"), std::string{"\x16no TLS"}}) {
    const auto before = reached.load();
    {
      const auto client = tunnel(proxy, to.text());
      CHECK(client.exactly(12) == "server first");
      CHECK(client.send(first));
      client.finish_sending();
      CHECK(client.all().empty());
    }
    CHECK_FALSE(proxy.ended(++count).back().refused.has_value());
    CHECK(reached == before + first.size());
  }
  const auto before = reached.load();
  const auto client = tunnel(proxy, to.text());
  CHECK(client.exactly(12) == "server first");
  CHECK(client.send(hello_for("b.example")));
  CHECK(client.all().empty());
  const auto over = proxy.ended(++count).back();
  REQUIRE(over.refused.has_value());
  CHECK(over.refused->error == code::tls_name_denied);
  CHECK(reached == before);
}

TEST_CASE("a_plain_request_reaches_the_host_that_was_decided_on_written_anew") {
  http_server at{5};
  proxied proxy{with_names(at.to)};
  const auto client = proxy.connect();
  CHECK(client.send("POST http://A.example:" + at.to.text() +
                    "/p HTTP/1.1\r\nHost: b.example\r\nConnection: X-Gone\r\nX-Gone: 1\r\n"
                    "X-Kept: 2\r\nContent-Length: 5\r\n\r\n12345"));
  CHECK(client.all().ends_with("\r\n\r\nok"));
  CHECK(at.got() == "POST /p HTTP/1.1\r\nHost: a.example:" + at.to.text() +
                        "\r\nX-Kept: 2\r\nContent-Length: 5\r\nVia: 1.1 pinfold\r\n"
                        "Connection: close\r\n\r\n12345");
  client.finish_sending();
  const auto over = proxy.ended(1).front();
  CHECK(over.protocol == egress_protocol::http);
  CHECK(over.sent == at.got().size());
}

TEST_CASE("a_second_request_behind_the_first_is_not_passed_on") {
  std::string got;
  {
    server to{[&](peer& client) {
      got = client.head();
      client.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      while (!client.is_silent(300ms)) {
        const auto more = client.some();
        if (more.empty()) break;
        got += more;
      }
    }};
    proxied proxy{with_names(to)};
    const auto client = proxy.connect();
    const auto request = "GET http://a.example:" + to.text() + "/1 HTTP/1.1\r\n\r\n";
    CHECK(client.send(request + "GET /2 HTTP/1.1\r\nHost: b.example\r\n\r\n"));
    CHECK(client.all().ends_with("ok"));
    client.finish_sending();
    (void)proxy.ended(1);
  }
  CHECK(got.contains("/1 "));
  CHECK_FALSE(got.contains("b.example"));
}

TEST_CASE("a_body_in_chunks_is_passed_on_and_one_that_goes_wrong_is_reset") {
  std::string got;
  server to{[&](peer& client) {
    got = client.all();
    client.send("HTTP/1.1 200 OK\r\n\r\nok");
  }};
  proxied proxy{with_names(to)};
  const auto head =
      "PUT http://a.example:" + to.text() + "/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  const auto client = proxy.connect();
  CHECK(client.send(head + "3\r\nabc\r\n"));
  CHECK(client.send("3\r\nabcGET / HTTP/1.1\r\n\r\n"));
  CHECK(client.all().empty());
  const auto over = proxy.ended(1).front();
  REQUIRE(over.refused.has_value());
  CHECK(over.refused->error == code::invalid_request);
}

TEST_CASE("a_socks5_client_reaches_a_name_and_both_kinds_of_address") {
  server to{&echo};
  proxied proxy{settings_for(to)};
  const auto v4 = std::string{"\5\1\0\1\x7f\0\0\1", 8} + two_bytes(to.port());
  for (const auto& request :
       {socks_request_for("a.example", to.port()), v4, socks_request_for("127.0.0.1", to.port())}) {
    const auto client = proxy.connect();
    CHECK(client.send(std::string{socks_hello}));
    CHECK(client.exactly(2) == std::string{"\5\0", 2});
    CHECK(client.send(request + "hello"));
    CHECK(client.exactly(10) == std::string{"\5\0\0\1\0\0\0\0\0\0", 10});
    CHECK(client.exactly(5) == "hello");
  }
  const auto v6 = std::string{"\5\1\0\4", 4} + std::string(15, '\0') + "\1" + two_bytes(to.port());
  const auto client = proxy.connect();
  CHECK(client.send(std::string{socks_hello} + v6));
  CHECK(client.exactly(4) == std::string{"\5\0\5\2", 4});
  CHECK(code_in(client.all()) == "NetworkDenied");
  client.finish_sending();
  const auto all = proxy.ended(4);
  CHECK(std::ranges::count(all, "::1", &egress_attempt::host) == 1);
}

TEST_CASE("a_socks5_client_that_wants_anything_else_is_told_so") {
  proxied proxy{egress_settings{}};
  const auto client = proxy.connect();
  CHECK(client.send(std::string_view{"\5\1\2", 3}));
  CHECK(client.all() == "\5\xff");
  const auto binds = proxy.connect();
  CHECK(binds.send(std::string{socks_hello} + std::string{"\5\2\0\1\x7f\0\0\1\0\1", 10}));
  CHECK(binds.exactly(4) == std::string{"\5\0\5\7", 4});
  CHECK(code_in(binds.all()) == "InvalidRequest");
}

TEST_CASE("a_port_of_the_hosts_own_loopback_is_carried_without_a_word") {
  server to{&echo};
  egress_request request;
  request.loopback = {to.port()};
  proxied proxy{egress_settings{.list = egress_list_of(request)}, to.port()};
  {
    const auto client = proxy.connect();
    CHECK(client.send("any bytes at all"));
    CHECK(client.exactly(16) == "any bytes at all");
  }
  const auto over = proxy.ended(1).front();
  CHECK(over.protocol == egress_protocol::loopback);
  CHECK((over.sent == 16 && over.received == 16));
}

TEST_CASE("a_port_of_the_loopback_that_is_not_on_the_list_is_reset") {
  server to{&echo};
  proxied proxy{egress_settings{.list = entries({"127.0.0.1:1"})}, to.port()};
  const auto client = proxy.connect();
  CHECK(client.some().empty());
  CHECK(errno == ECONNRESET);
  CHECK(proxy.ended(1).front().refused->error == code::network_denied);
  CHECK(to.accepted() == 0);
}
