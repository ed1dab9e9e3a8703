// What is taken is one request to every reader, and so is what is written anew from it.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "egress/beast.hpp"
#include "egress/checks.hpp"
#include "egress/decide.hpp"
#include "egress/head_model.hpp"
#include "egress/http_body.hpp"
#include "egress/http_head.hpp"
#include "egress/pieces.hpp"

namespace pinfold_fuzz {

namespace {

using namespace pinfold::egress_bytes;
using pinfold::host_text;

std::string size_shown(std::size_t size) {
  return std::to_string(size);
}

/// As the proxy reads: what was looked at before is not looked at again.
std::string head_in_pieces(std::string_view text, const std::vector<std::size_t>& ends) {
  std::size_t looked = 0;
  for (const auto end : ends) {
    const std::vector<char> part(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end));
    const auto now = said(size_of_head({part.data(), part.size()}, looked), size_shown);
    if (now != more) return now;
    looked = end;
  }
  return more;
}

std::string head_by_model(std::string_view text) {
  const auto end = text.find("\r\n\r\n");
  const auto head = text.substr(0, end == std::string_view::npos ? end : end + 4);
  if (head.size() > most_head_bytes || model::has_odd_ends(head)) return refused;
  return end == std::string_view::npos ? more : size_shown(head.size());
}

/// One framing, said once, in digits.
void check_framing(const model::head& head, http_request::body framing, std::uint64_t length,
                   std::string_view facts) {
  const auto lengths = head.all("content-length");
  const auto codings = head.all("transfer-encoding");
  must_hold(lengths.size() + codings.size() <= 1, "never two lengths, nor a length and chunks",
            facts);
  const auto is_said = framing == http_request::body::none    ? lengths.empty() && codings.empty()
                       : framing == http_request::body::sized ? lengths.size() == 1
                                                              : codings.size() == 1;
  must_hold(is_said, "the framing is the one in the head", facts);
  if (framing == http_request::body::sized) {
    const auto& digits = lengths.front();
    must_hold(!digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos &&
                  std::stoull(digits) == length,
              "a length is its digits", facts);
  } else if (framing == http_request::body::chunked) {
    must_hold(model::lower(codings.front()) == "chunked" && head.line[2] == "HTTP/1.1",
              "no encoding but chunks, and those in HTTP/1.1", facts);
  }
}

/// The host, the port and the path that a target names to somebody who looks for nothing else.
void check_target(const http_request& request, const std::string& target, std::string_view facts) {
  if (request.is_connect()) {
    const auto colon = target.rfind(':');
    must_hold(target.substr(0, colon) == request.host &&
                  std::stoul(target.substr(colon + 1)) == request.port,
              "a tunnel's host and port", facts);
    return;
  }
  must_hold(model::lower(target.substr(0, 7)) == "http://", "only a target in full is taken",
            facts);
  const auto rest = target.substr(7);
  const auto authority = rest.substr(0, rest.find_first_of("/?"));
  must_hold(authority.starts_with(std::string{request.host}), "the host of a target", facts);
  const auto port = authority.substr(request.host.size());
  must_hold(port.empty() ? request.port == 80
                         : port[0] == ':' && std::stoul(port.substr(1)) == request.port,
            "the port of a target", facts);
  const auto path = rest.substr(authority.size());
  must_hold(request.path == (path.starts_with('/') ? path : "/" + path), "the path of a target",
            facts);
}

std::string authority_by_model(const host_text& host, std::uint32_t port) {
  const std::string text{host.text()};
  return (text.find(':') == std::string::npos ? text : "[" + text + "]") +
         (port == 80 ? "" : ":" + std::to_string(port));
}

/// A reader of another make, which is lenient where ours is strict, finds the same request.
void check_second_reader(const std::string& written, const model::head& head,
                         std::string_view facts) {
  const auto seen = read_by_beast(written);
  must_hold(seen && seen->method == head.line[0] && seen->target == head.line[1] &&
                seen->hosts == head.all("host"),
            "a second reader finds the same request", facts);
  const auto lengths = head.all("content-length");
  must_hold(seen->is_chunked == !head.all("transfer-encoding").empty() &&
                seen->length ==
                    (lengths.empty() ? std::nullopt : std::optional{std::stoull(lengths.front())}),
            "a second reader finds the same end of its body", facts);
}

void check_written(const http_request& request, const model::head& came, const host_text& host) {
  const auto written = written_anew(request, host);
  const std::string_view facts = written;
  must_hold(written.find("\r\n\r\n") + 4 == written.size() && !model::has_odd_ends(written),
            "one head is written", facts);
  const auto head = model::read_head(written);
  must_hold(head && head->line.size() == 3, "a request line and fields are written", facts);
  must_hold(head->line[0] == request.method && head->line[1] == request.path &&
                head->line[1].starts_with('/') && head->line[2] == came.line[2],
            "the request is for the server itself", facts);
  const auto authority = authority_by_model(host, request.port);
  must_hold(head->fields.front() == std::pair<std::string, std::string>{"host", authority} &&
                head->all("host").size() == 1,
            "Host is who was decided on", facts);
  must_hold(head->all("connection") == std::vector<std::string>{"close"},
            "the server is asked to close", facts);
  check_framing(*head, request.framing, request.length, facts);
  auto expected = model::without(model::without_hop(came), model::named_in_connection(came));
  expected.emplace_back("via", "1.1 pinfold");
  must_hold(model::without_hop(*head) == expected, "all other fields go on as they came", facts);
  check_second_reader(written, *head, facts);

  // Read again as a client's own, it is the same request.
  const auto target = "http://" + authority + request.path;
  const auto again_text =
      std::string{request.method} + " " + target + written.substr(written.find(" HTTP/1."));
  const auto again = read_request(again_text);
  must_hold(again && again->port == request.port && again->path == request.path &&
                again->framing == request.framing && again->length == request.length &&
                pinfold::parse_host(again->host) == host,
            "what is written is read as what it was written from", facts);
}

struct carried {
  std::string says;  ///< `more`, `refused`, or "whole"
  std::string out;
  std::string left;
};

/// As the proxy carries a body: what is left of a piece is put before the next one.
carried carry(const http_request& request, std::string_view text,
              const std::vector<std::size_t>& ends) {
  body_reader body{request};
  carried now{.says = more, .out = {}, .left = {}};
  std::size_t begun = 0;
  for (const auto end : ends) {
    now.left += text.substr(begun, end - begun);
    begun = end;
    const std::vector<char> part(now.left.begin(), now.left.end());
    std::string_view rest{part.data(), part.size()};
    if (!body.take(rest, now.out)) return {.says = refused, .out = {}, .left = {}};
    now.left = rest;
  }
  if (body.is_at_end()) now.says = "whole";
  return now;
}

void check_body(const http_request& request, const std::string& text, const cuts& pieces) {
  const std::string_view facts = text;
  const auto whole = carry(request, text, {text.size()});
  const auto cut = carry(request, text, pieces.of(text.size()));
  must_hold(whole.says == cut.says && whole.out == cut.out && whole.left == cut.left,
            "a body ends where it says however it is cut up", facts);
  if (request.framing != http_request::body::chunked) {
    const auto size =
        static_cast<std::size_t>(std::min<std::uint64_t>(request.length, text.size()));
    must_hold(whole.out == text.substr(0, size) && whole.left == text.substr(size),
              "a body is as long as it says", facts);
    must_hold((whole.says == "whole") == (request.length <= text.size()), "then it is whole",
              facts);
    return;
  }
  const auto end = model::end_of_chunks(text);
  must_hold(end.has_value() == (whole.says == "whole"), "chunks end with the empty one", facts);
  if (whole.says == refused) return;
  must_hold(whole.out + whole.left == text, "chunks go on as they came", facts);
  if (end) must_hold(whole.out.size() == *end, "nothing behind the last chunk goes on", facts);
}

}  // namespace

void check_request(const std::string& text, const cuts& pieces) {
  const auto ends = pieces.of(text.size());
  const auto size_said = said_of_all(
      text, {}, [](std::string_view part) { return said(size_of_head(part), size_shown); });
  must_hold(size_said == head_by_model(text), "a head ends at its first empty line", text);
  must_hold(size_said == head_in_pieces(text, ends), "however it is cut up", text);
  if (size_said == more || size_said == refused) return;
  const auto size = std::stoul(size_said);
  const std::vector<char> head_bytes(text.begin(),
                                     text.begin() + static_cast<std::ptrdiff_t>(size));
  const auto request = read_request({head_bytes.data(), head_bytes.size()});
  if (!request) return;

  const auto facts = std::string_view{text}.substr(0, size);
  const auto head = model::read_head(std::string_view{text}.substr(0, size));
  must_hold(head && head->line.size() == 3, "what is taken is a request line and fields", facts);
  must_hold(head->line[0] == request->method, "the method is as it came", facts);
  must_hold(head->line[2] == "HTTP/1.1" || head->line[2] == "HTTP/1.0", "no other version", facts);
  must_hold(head->all("host").size() <= 1, "at most one Host", facts);
  check_framing(*head, request->framing, request->length, facts);
  check_target(*request, head->line[1], facts);
  check_asked(std::string{request->host}, request->port);
  const auto host = pinfold::parse_host(request->host);
  if (!host || request->is_connect()) return;
  if (pinfold::checked_port(request->port)) check_written(*request, *head, *host);
  check_body(*request, text.substr(size), pieces);
}

}  // namespace pinfold_fuzz
