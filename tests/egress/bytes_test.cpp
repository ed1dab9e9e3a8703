// The readers of what comes from inside, each byte by byte: what is taken, what is refused, and that
// no way of cutting the bytes up changes the answer.
#include <set>

#include "egress/address.hpp"
#include "egress/answer.hpp"
#include "egress/client_hello.hpp"
#include "egress/decide.hpp"
#include "egress/http_body.hpp"
#include "egress/http_head.hpp"
#include "egress/socks.hpp"

#include "ground.hpp"

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

/// What the reader says of a whole request; the code of a refusal.
std::string said_of(const std::string& text) {
  const auto size = size_of_head(text);
  if (!size) return std::string{name_of(size.error().error)};
  if (!*size) return "more";
  const auto request = read_request(std::string_view{text}.substr(0, **size));
  return request ? "taken" : std::string{name_of(request.error().error)};
}

std::string get(std::string_view fields) {
  return "GET http://a.example/x HTTP/1.1\r\n" + std::string{fields} + "\r\n";
}

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

TEST_CASE("a_request_in_full_is_taken_and_written_anew") {
  const std::string text =
      "POST HTTP://A.Example:8080/p?q=1 HTTP/1.1\r\nHost: elsewhere.example\r\nX-One:  a b \r\n"
      "Connection: close, X-Two\r\nX-Two: gone\r\nProxy-Connection: keep-alive\r\nUpgrade: h2c\r\n"
      "Proxy-Authorization: Basic x\r\nTE: trailers\r\nKeep-Alive: 5\r\nTrailer: X\r\n"
      "Content-Length: 5\r\n\r\n";
  REQUIRE(said_of(text) == "taken");
  const auto request = read_request(text).value();
  CHECK(request.host == "A.Example");
  CHECK(request.port == 8080);
  CHECK(request.framing == http_request::body::sized);
  CHECK(written_anew(request, "a.example:8080") ==
        "POST /p?q=1 HTTP/1.1\r\nHost: a.example:8080\r\nX-One: a b\r\nContent-Length: 5\r\n"
        "Via: 1.1 pinfold\r\nConnection: close\r\n\r\n");
}

TEST_CASE("a_target_says_where_the_host_ends") {
  struct row {
    std::string_view target, host;
    std::uint32_t port;
    std::string_view path;
  };
  for (const auto& one :
       {row{"http://a.example", "a.example", 80, "/"},
        row{"http://a.example?q", "a.example", 80, "/?q"},
        row{"http://a.example/:443", "a.example", 80, "/:443"},
        row{"http://[::1]:81/", "[::1]", 81, "/"}, row{"http://[::1]/", "[::1]", 80, "/"},
        row{"http://b@a.example/", "b@a.example", 80, "/"},
        row{"http://a.example\\b/", "a.example\\b", 80, "/"}}) {
    INFO(one.target);
    const auto text = "GET " + std::string{one.target} + " HTTP/1.1\r\n\r\n";
    const auto request = read_request(text);
    REQUIRE(request.has_value());
    CHECK(request->host == one.host);
    CHECK(request->port == one.port);
    CHECK(request->path == one.path);
  }
}

TEST_CASE("a_request_that_two_readers_could_take_for_two_is_refused") {
  const std::string nul(1, '\0');
  for (const auto& text : std::vector<std::string>{
           get("Content-Length: 1\r\nContent-Length: 1\r\n"),
           get("Content-Length: 1\r\ncontent-length: 2\r\n"),
           get("Content-Length: 1, 1\r\n"),
           get("Content-Length: +1\r\n"),
           get("Content-Length: 0x1\r\n"),
           get("Content-Length: \r\n"),
           get("Content-Length: 1 1\r\n"),
           get("Content-Length: 9999999999999999999\r\n"),
           get("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"),
           get("Transfer-Encoding: chunked\r\nContent-Length: 1\r\n"),
           get("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
           get("Transfer-Encoding: gzip, chunked\r\n"),
           get("Transfer-Encoding: xchunked\r\n"),
           get("Transfer-Encoding: identity\r\n"),
           get("Transfer-Encoding : chunked\r\n"),
           get("Transfer-Encoding: chunked;q=1\r\n"),
           get("Transfer-Encoding:\r\n"),
           get("Host: a.example\r\nHost: a.example\r\n"),
           get("A: b\r\n c\r\n"),
           get("A: b\r\n\tc\r\n"),
           get(" A: b\r\n"),
           get("A : b\r\n"),
           get(": b\r\n"),
           get("A\r\n"),
           get("A: b\rc\r\n"),
           get("A: b\nC: d\r\n"),
           get("A: b" + nul + "\r\n"),
           get("A: \x01\r\n"),
           get("A: \x7f\r\n"),
           get("A\x80: b\r\n"),
           get("(A): b\r\n"),
           "GET http://a.example/x HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
           "GET http://a.example/x HTTP/1.1\n\n",
           "GET http://a.example/x HTTP/1.1\r\r\n\r\n",
           "GET  http://a.example/x HTTP/1.1\r\n\r\n",
           "GET http://a.example/x\r\n\r\n",
           "GET http://a.example/x y HTTP/1.1\r\n\r\n",
           "GET\thttp://a.example/x\tHTTP/1.1\r\n\r\n",
           "GET http://a.example/x HTTP/1.2\r\n\r\n",
           "GET http://a.example/x HTTP/2.0\r\n\r\n",
           "GET http://a.example/x http/1.1\r\n\r\n",
           "GET http://a.example/x HTTP/1.1 \r\n\r\n",
           "G{T http://a.example/x HTTP/1.1\r\n\r\n",
           "GET http://a.example/x#y HTTP/1.1\r\n\r\n",
           "GET /x HTTP/1.1\r\nHost: a.example\r\n\r\n",
           "GET * HTTP/1.1\r\n\r\n",
           "GET https://a.example/ HTTP/1.1\r\n\r\n",
           "GET ftp://a.example/ HTTP/1.1\r\n\r\n",
           "GET a.example:80 HTTP/1.1\r\n\r\n",
           "GET http:/a.example/ HTTP/1.1\r\n\r\n",
           "GET http://a.ex\x80mple/ HTTP/1.1\r\n\r\n",
           "CONNECT a.example:443 HTTP/1.1\r\nContent-Length: 3\r\n\r\n",
           "CONNECT a.example:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
           "\r\nGET http://a.example/x HTTP/1.1\r\n\r\n"}) {
    INFO(text);
    CHECK(said_of(text) == "InvalidRequest");
  }
  for (const std::string target : {"a.example", "a.example:", "a.example:x", "a.example:-1", ""}) {
    INFO(target);
    const auto said = said_of("CONNECT " + target + " HTTP/1.1\r\n\r\n");
    CHECK((said == "InvalidHost" || said == "InvalidRequest"));
  }
  CHECK(said_of(get("A: b\r\nContent-Length: 0\r\nHost: x\r\n")) == "taken");
  CHECK(said_of("CONNECT a.example:443 HTTP/1.1\r\nContent-Length: 0\r\n\r\n") == "taken");
}

TEST_CASE("a_head_ends_at_64_KiB_whole_or_not") {
  const auto of_size = [](std::size_t size) {
    auto text = get("A: \r\n");
    return text.insert(text.size() - 4, std::string(size - text.size(), 'x'));
  };
  CHECK(said_of(of_size(most_head_bytes)) == "taken");
  CHECK(said_of(of_size(most_head_bytes + 1)) == "InvalidRequest");
  CHECK(said_of(std::string(most_head_bytes, 'x')) == "more");
  CHECK(said_of(std::string(most_head_bytes + 1, 'x')) == "InvalidRequest");
}

TEST_CASE("a_head_that_comes_byte_by_byte_ends_where_a_whole_one_does") {
  const auto text = get("A: b\r\nC: d\r\n") + "body";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const auto begun = std::string_view{text}.substr(0, size);
    const auto step_by_step = size_of_head(begun, size > 0 ? size - 1 : 0);
    REQUIRE(step_by_step.has_value());
    const bool is_whole = size >= text.size() - 4;
    CHECK((is_whole || !step_by_step->has_value()));
    if (size == text.size() - 4) CHECK(step_by_step->has_value());
    CHECK(size_of_head(begun)->has_value() == is_whole);
  }
}

namespace {

/// What a body reader makes of bytes that come in pieces of this size.
std::string passed_on(const http_request& request, std::string_view bytes, std::size_t piece) {
  body_reader body{request};
  std::string out;
  std::string rest;
  while (!bytes.empty() && !body.is_at_end()) {
    rest += bytes.substr(0, piece);
    bytes.remove_prefix(std::min(piece, bytes.size()));
    std::string_view left = rest;
    if (const auto taken = body.take(left, out); !taken) return "refused";
    rest.erase(0, rest.size() - left.size());
  }
  return out + (body.is_at_end() ? "|" + rest + std::string{bytes} : "...");
}

}  // namespace

TEST_CASE("a_body_ends_where_it_says_however_it_is_cut_up") {
  http_request sized;
  sized.framing = http_request::body::sized;
  sized.length = 5;
  http_request chunked;
  chunked.framing = http_request::body::chunked;
  for (std::size_t piece = 1; piece < 40; ++piece) {
    INFO(piece);
    CHECK(passed_on(sized, "12345GET", piece) == "12345|GET");
    CHECK(passed_on(sized, "123", piece) == "123...");
    CHECK(passed_on(chunked, "3\r\nabc\r\n00A\r\n0123456789\r\n0\r\n\r\nGET", piece) ==
          "3\r\nabc\r\n00A\r\n0123456789\r\n0\r\n\r\n|GET");
    for (const std::string_view wrong :
         {"3;x=y\r\nabc\r\n0\r\n\r\n", "3\nabc\r\n0\r\n\r\n", "-3\r\nabc", "0x3\r\nabc",
          " 3\r\nabc", "3 \r\nabc", "\r\n", "g\r\n", "3\r\nabcd\r\n", "3\r\nabc\n0\r\n\r\n",
          "0\r\nA: b\r\n\r\n", "123456789\r\n", "ffffffffffffffffffff\r\n", "0\r\n\n"}) {
      INFO(wrong);
      CHECK(passed_on(chunked, wrong, piece) == "refused");
    }
  }
  CHECK(passed_on(http_request{}, "GET", 1) == "|GET");
}

TEST_CASE("a_hello_names_its_server_however_it_is_cut_up") {
  const auto message = hello_message(extension(0x2b, "\2\3\4") + server_name("A.Example"));
  for (std::size_t first = 1; first < message.size(); ++first) {
    const auto text = record(message.substr(0, first)) + record(message.substr(first));
    for (std::size_t size = 0; size < text.size(); ++size) {
      const auto begun = read_client_hello(std::string_view{text}.substr(0, size));
      REQUIRE(begun.has_value());
      CHECK_FALSE(begun->has_value());
    }
    const auto hello = read_client_hello(text + "more");
    REQUIRE((hello && *hello));
    CHECK((*hello)->server_name == "A.Example");
    CHECK_FALSE((*hello)->is_encrypted);
  }
}

TEST_CASE("a_hello_in_which_two_names_could_be_seen_is_refused") {
  const auto is_bad = [](const std::string& bytes) { return !read_client_hello(bytes); };
  const auto with = [](const std::string& extensions) { return record(hello_message(extensions)); };
  CHECK(is_bad(with(server_name("a.example") + server_name("b.example"))));
  const auto entry = [](const std::string& name) {
    return std::string(1, '\0') + two_bytes(name.size()) + name;
  };
  const auto two = entry("a.example") + entry("b.example");
  CHECK(is_bad(with(extension(0, two_bytes(two.size()) + two))));
  const auto odd_type = "\1" + two_bytes(9) + "a.example";
  CHECK(is_bad(with(extension(0, two_bytes(odd_type.size()) + odd_type))));
  CHECK(is_bad(with(extension(0, ""))));
  CHECK(is_bad(with(extension(0, two_bytes(0)))));
  const auto one = entry("a.example");
  CHECK(is_bad(with(extension(0, two_bytes(one.size()) + one + "x"))));
  CHECK(is_bad(with(extension(0, two_bytes(one.size() + 9) + one))));
  CHECK(is_bad(with(server_name("a.example") + "x")));
  CHECK(is_bad(record(hello_message(server_name("a.example")) + "x")));
  CHECK(is_bad(record("\2" + hello_message("").substr(1))));
  CHECK(is_bad(record("")));
  CHECK(is_bad(std::string{"\x16\2\0\0\1\1", 6}));
  CHECK(is_bad(std::string{"\x17\3\1\0\1\1", 6}));
  CHECK(is_bad(std::string{"\x16\3\1\x50\0", 5}));
  CHECK(is_bad(record(std::string{"\1\xff\xff\xff", 4})));
  const auto good = with(server_name("a.example"));
  CHECK_FALSE(is_bad(good));
  const auto long_one = hello_message(extension(21, std::string(16000, 'x')) + server_name("b"));
  CHECK_FALSE(is_bad(record(long_one.substr(0, 9000)) + record(long_one.substr(9000))));
  CHECK(is_bad(record(std::string{"\1\0\x40\0", 4} + std::string(16380, 'x')) +
               std::string(2000, '\x16')));
}

TEST_CASE("whether_a_hello_is_for_the_host_is_one_decision") {
  const auto host = parse_host("a.example").value();
  const auto decided = [&](const std::string& extensions, tls_names names) {
    const auto hello = read_client_hello(record(hello_message(extensions)));
    return decide_hello(**hello, names, host, 443).has_value();
  };
  for (const auto names : {tls_names::required, tls_names::optional}) {
    CHECK(decided(server_name("a.example"), names));
    CHECK(decided(server_name("A.EXAMPLE"), names));
    for (const std::string_view other : {"b.example", "a.example.evil.test", "xa.example",
                                         "example", "a.example\r\n", "*.example", "127.0.0.1"}) {
      CHECK_FALSE(decided(server_name(other), names));
    }
    CHECK_FALSE(decided(server_name(std::string_view{"a.example\0", 10}), names));
    const bool is_optional = names == tls_names::optional;
    CHECK(decided("", names) == is_optional);
    for (const unsigned encrypted : {0xfe0dU, 0xffceU}) {
      CHECK(decided(server_name("a.example") + extension(encrypted, "x"), names) == is_optional);
      CHECK_FALSE(decided(server_name("b.example") + extension(encrypted, "x"), names));
    }
  }
}

TEST_CASE("a_socks5_client_is_read_to_the_letter") {
  const auto is_bad_greeting = [](std::string_view text) { return !read_socks_greeting(text); };
  CHECK((*read_socks_greeting(socks_hello))->size == 3);
  CHECK((*read_socks_greeting(std::string_view{"\5\2\2\0x", 5}))->size == 4);
  CHECK_FALSE(read_socks_greeting("\5")->has_value());
  CHECK_FALSE(read_socks_greeting(std::string_view{"\5\2\0", 3})->has_value());
  CHECK(is_bad_greeting(std::string_view{"\5\1\2", 3}));
  CHECK(is_bad_greeting(std::string_view{"\5\0", 2}));
  CHECK(is_bad_greeting(std::string_view{"\4\1\0", 3}));

  const auto asked = [](std::string_view text) { return (*read_socks_request(text)).value(); };
  const auto name = asked(socks_request_for("a.example", 443) + "x");
  CHECK((name.host == "a.example" && name.port == 443 && name.size == 16));
  const auto four = asked(std::string_view{"\5\1\0\1\x7f\0\0\1\1\xbb", 10});
  CHECK((four.host == "127.0.0.1" && four.port == 443 && four.size == 10));
  const auto six = asked(std::string_view{"\5\1\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\x50", 22});
  CHECK((six.host == "[::1]" && six.port == 80 && six.size == 22));
  CHECK(asked(socks_request_for("", 443)).host.empty());
  const auto whole = socks_request_for("a.example", 443);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CHECK_FALSE(read_socks_request(std::string_view{whole}.substr(0, size))->has_value());
  }
  for (const std::string_view wrong :
       {std::string_view{"\4\1\0\1\0", 5}, std::string_view{"\5\2\0\1\0", 5},
        std::string_view{"\5\3\0\1\0", 5}, std::string_view{"\5\1\1\1\0", 5},
        std::string_view{"\5\1\0\2\0", 5}, std::string_view{"\5\1\0\5\0", 5}}) {
    CHECK_FALSE(read_socks_request(wrong));
  }
}

TEST_CASE("a_refusal_is_told_whole_whatever_bytes_were_asked_for") {
  auto why = refused_connection(code::network_denied, "a\"b\\\x01\xff\n", 1);
  why.boundary = "list";
  const auto json = refusal_json(why);
  CHECK(json.starts_with("{\"error\":\"NetworkDenied\",\"message\":\"refusing to connect "));
  CHECK(json.contains("\"path\":\"a\\\"b\\\\\\u0001\\ufffd\\u000a:1\""));
  CHECK(json.contains("\"resolved\":null,\"boundary\":\"list\",\"remedy\":\"needs_wider_grant\"}"));
  for (const char c : json) CHECK((c == '\n' || (c >= 0x20 && c < 0x7f)));
  CHECK(http_refusal(why).starts_with("HTTP/1.1 403 Forbidden\r\n"));
  CHECK(http_refusal(why).ends_with("\r\n\r\n" + json));
  CHECK(socks_refusal(why).starts_with("\5\2"));
}
