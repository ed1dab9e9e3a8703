// RFC 9112 by the letter where it gives a choice between mending and refusing: refused.
#include "egress/http_head.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

namespace pinfold::egress_bytes {
namespace {

using std::string_view_literals::operator""sv;

bool is_token_byte(char c) {
  const bool is_alphanumeric =
      (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return is_alphanumeric || "!#$%&'*+-.^_`|~"sv.contains(c);
}

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_token_byte);
}

bool is_target_byte(char c) {
  return c > 0x20 && c < 0x7f;
}

bool is_value_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
}

bool is_same(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

/// The text before the first `end`, taken off the front with it; nothing where there is none.
std::optional<std::string_view> take_to(std::string_view& rest, std::string_view end) {
  const auto at = rest.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const auto front = rest.substr(0, at);
  rest.remove_prefix(at + end.size());
  return front;
}

template <class Number>
std::optional<Number> decimal(std::string_view text, std::size_t most_digits) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty() || text.size() > most_digits || !std::ranges::all_of(text, is_digit)) {
    return std::nullopt;
  }
  Number value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// HOST:PORT, the port after the last colon.
std::optional<fault> split_authority(std::string_view text, http_request& to) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return fault{code::invalid_host, "the port is missing"};
  const auto port = decimal<std::uint32_t>(text.substr(colon + 1), 9);
  if (!port) return fault{code::invalid_host, "the port is no number"};
  to.host = text.substr(0, colon);
  to.port = *port;
  return std::nullopt;
}

std::optional<fault> read_absolute(std::string_view target, http_request& to) {
  constexpr auto scheme = "http://"sv;
  if (!is_same(target.substr(0, scheme.size()), scheme)) {
    return fault{code::invalid_request,
                 "it is no http:// address in full; a proxy needs one, or CONNECT"};
  }
  target.remove_prefix(scheme.size());
  if (target.contains('#')) return fault{code::invalid_request, "a target has no fragment"};
  const auto end = std::min(target.find_first_of("/?"), target.size());
  const auto authority = target.substr(0, end);
  const auto path = target.substr(end);
  to.path = path.starts_with('/') ? std::string{path} : "/" + std::string{path};
  const bool has_port = authority.find(':', authority.starts_with('[') ? authority.find(']') : 0) !=
                        std::string_view::npos;
  if (has_port) return split_authority(authority, to);
  to.host = authority;
  to.port = 80;
  return std::nullopt;
}

std::optional<fault> read_request_line(std::string_view line, http_request& to) {
  const auto malformed = fault{code::invalid_request, "it is no request line"};
  const auto method = take_to(line, " ");
  const auto target = take_to(line, " ");
  if (!method || !target || !is_token(*method)) return malformed;
  if (target->empty() || !std::ranges::all_of(*target, is_target_byte)) return malformed;
  if (line != "HTTP/1.1" && line != "HTTP/1.0") return malformed;
  to.method = *method;
  to.minor = line.ends_with('1') ? 1 : 0;
  return to.is_connect() ? split_authority(*target, to) : read_absolute(*target, to);
}

std::optional<http_field> read_field(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return std::nullopt;
  if (!std::ranges::all_of(line.substr(colon + 1), is_value_byte)) return std::nullopt;
  return http_field{line.substr(0, colon), trimmed(line.substr(colon + 1))};
}

/// What belongs to this hop (RFC 9110, section 7.6.1), and what is written anew.
bool is_of_this_hop(std::string_view name) {
  constexpr std::array those{"Connection"sv,
                             "Keep-Alive"sv,
                             "Proxy-Connection"sv,
                             "Proxy-Authenticate"sv,
                             "Proxy-Authorization"sv,
                             "TE"sv,
                             "Trailer"sv,
                             "Upgrade"sv,
                             "Transfer-Encoding"sv,
                             "Content-Length"sv,
                             "Host"sv};
  return std::ranges::any_of(those, [name](auto one) { return is_same(one, name); });
}

/// Takes what frames the body; says what is wrong with it.
class framing_reader {
 public:
  std::optional<fault> take(const http_field& field) {
    if (is_same(field.name, "Host") && std::exchange(has_host_, true)) {
      return fault{code::invalid_request, "two Host fields"};
    }
    if (is_same(field.name, "Content-Length")) {
      if (length_) return fault{code::invalid_request, "two lengths of one body"};
      length_ = decimal<std::uint64_t>(field.value, 18);
      if (!length_) return fault{code::invalid_request, "the length of the body is no number"};
    }
    if (is_same(field.name, "Transfer-Encoding")) {
      if (is_chunked_ || !is_same(field.value, "chunked")) {
        return fault{code::invalid_request, "the proxy takes no encoding of a body but chunked"};
      }
      is_chunked_ = true;
    }
    return std::nullopt;
  }

  std::optional<fault> finish(http_request& to) const {
    if (is_chunked_ && length_) {
      return fault{code::invalid_request, "a body with a length and in chunks"};
    }
    if (is_chunked_ && to.minor == 0) {
      return fault{code::invalid_request, "a body in chunks in HTTP/1.0"};
    }
    if (to.is_connect() && (is_chunked_ || length_.value_or(0) > 0)) {
      return fault{code::invalid_request, "CONNECT with a body"};
    }
    if (is_chunked_) to.framing = http_request::body::chunked;
    if (length_) to.framing = http_request::body::sized;
    to.length = length_.value_or(0);
    return std::nullopt;
  }

 private:
  bool has_host_{false};
  bool is_chunked_{false};
  std::optional<std::uint64_t> length_;
};

/// The host as it stands in a Host field.
std::string authority_of(const host_text& host, std::uint32_t port) {
  std::string text{host.text()};
  if (host.kind() == host_kind::ipv6) text = "[" + text + "]";
  return port == 80 ? text : text + ":" + std::to_string(port);
}

/// Fields that a Connection field names are of this hop too.
void drop_named(std::vector<http_field>& fields, std::string_view names) {
  while (!names.empty()) {
    const auto end = std::min(names.find(','), names.size());
    const auto name = trimmed(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
    std::erase_if(fields, [name](const http_field& field) { return is_same(field.name, name); });
  }
}

}  // namespace

reading<std::size_t> size_of_head(std::string_view bytes, std::size_t from) {
  constexpr std::size_t longest_end = 3;  // that can have been there without its last byte
  for (auto at = from - std::min(from, longest_end); at < bytes.size(); ++at) {
    if (at >= most_head_bytes) return bad("the head is over 64 KiB");
    const char c = bytes[at];
    if (c == '\0') return bad("a NUL in the head");
    if (c == '\n' && (at == 0 || bytes[at - 1] != '\r')) return bad("a line without a CR");
    if (c == '\r' && at + 1 < bytes.size() && bytes[at + 1] != '\n') return bad("a bare CR");
    if (c == '\n' && bytes.substr(0, at + 1).ends_with("\r\n\r\n")) return at + 1;
  }
  return std::nullopt;
}

std::expected<http_request, fault> read_request(std::string_view head) {
  http_request request;
  const auto line = take_to(head, "\r\n");
  if (!line) return bad("it is no request line");
  if (const auto wrong = read_request_line(*line, request)) return std::unexpected{*wrong};
  framing_reader framing;
  std::string connection;
  for (;;) {
    const auto text = take_to(head, "\r\n");
    if (!text) return bad("the head does not end");
    if (text->empty()) break;
    const auto field = read_field(*text);
    if (!field) return bad("it is no header field");
    if (const auto wrong = framing.take(*field)) return std::unexpected{*wrong};
    if (is_same(field->name, "Connection")) connection.append(field->value) += ',';
    if (!is_of_this_hop(field->name)) request.fields.push_back(*field);
  }
  if (!head.empty()) return bad("something follows the head");
  drop_named(request.fields, connection);
  if (const auto wrong = framing.finish(request)) return std::unexpected{*wrong};
  return request;
}

std::string written_anew(const http_request& request, const host_text& host) {
  std::string text{request.method};
  text.append(" ").append(request.path).append(request.minor == 1 ? " HTTP/1.1" : " HTTP/1.0");
  text.append("\r\nHost: ").append(authority_of(host, request.port)).append("\r\n");
  for (const auto& field : request.fields) {
    text.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  if (request.framing == http_request::body::sized) {
    text.append("Content-Length: ").append(std::to_string(request.length)).append("\r\n");
  }
  if (request.framing == http_request::body::chunked) text += "Transfer-Encoding: chunked\r\n";
  return text + "Via: 1.1 pinfold\r\nConnection: close\r\n\r\n";
}

}  // namespace pinfold::egress_bytes
