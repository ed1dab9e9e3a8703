// The readers of HTTP, byte by byte: what is taken, what two readers could take for two and is refused,
// and that no way of cutting the bytes up changes the answer.
#include "egress/http_body.hpp"
#include "egress/http_head.hpp"

#include "ground.hpp"

using namespace egress_test;
using namespace pinfold::egress_bytes;

namespace {

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
  CHECK(written_anew(request, parse_host("a.example").value()) ==
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
