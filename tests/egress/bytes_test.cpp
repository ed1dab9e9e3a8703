// The readers of TLS and SOCKS5, byte by byte: what is taken, what is refused, and that no way of
// cutting the bytes up changes the answer.
#include "egress/answer.hpp"
#include "egress/client_hello.hpp"
#include "egress/decide.hpp"
#include "egress/opening.hpp"
#include "egress/socks.hpp"

#include "ground.hpp"

using namespace egress_test;
using namespace pinfold::egress_bytes;

TEST_CASE("the_first_byte_says_who_reads_the_rest") {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const auto first = static_cast<char>(byte);
    const auto expected = byte == 5                    ? opening::socks5
                          : byte == 0x16               ? opening::tls
                          : byte >= 'A' && byte <= 'Z' ? opening::http
                                                       : opening::unknown;
    CHECK(opening_of(first) == expected);
  }
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

TEST_CASE("a_refusal_stays_short_however_long_the_host_and_the_list_are") {
  const std::vector<egress_entry> list(2000, entries({"a.example:443"}).front());
  const auto of_list = decide_connection(list, "b.example", 443).error();
  CHECK(of_list.boundary.starts_with("a.example:443 a.example:443 "));
  CHECK((of_list.boundary.ends_with(" ...") && of_list.boundary.size() < 1200));
  const auto of_host = decide_connection(list, std::string(60000, 'a'), 443).error();
  CHECK(of_host.error == code::invalid_host);
  CHECK((of_host.path.starts_with("aaa") && of_host.path.size() < 400));
}
