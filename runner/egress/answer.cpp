// The JSON is written by hand: it is one flat object of texts, and the runner library needs no JSON
// library elsewhere.
#include "egress/answer.hpp"

#include <string_view>

namespace pinfold::egress_bytes {
namespace {

/// What comes from inside may be any bytes; what is no ASCII becomes U+FFFD.
void append_json(std::string& to, std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  to += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      to += {'\\', c};
    } else if (byte >= 0x80) {
      to += "\\ufffd";
    } else if (byte < 0x20 || byte == 0x7f) {
      to.append("\\u00").append({hex[byte >> 4U], hex[byte & 15U]});
    } else {
      to += c;
    }
  }
  to += '"';
}

void append_field(std::string& to, std::string_view name, std::string_view value) {
  to += to.empty() ? '{' : ',';
  append_json(to, name);
  to += ':';
  append_json(to, value);
}

void append_field_or_null(std::string& to, std::string_view name, std::string_view value) {
  if (!value.empty()) return append_field(to, name, value);
  to += ',';
  append_json(to, name);
  to += ":null";
}

std::string_view status_of(code error) {
  if (error == code::invalid_host || error == code::invalid_request) return "400 Bad Request";
  if (error == code::host_unreachable) return "502 Bad Gateway";
  if (error == code::egress_limit) return "503 Service Unavailable";
  return "403 Forbidden";
}

socks_reply reply_of(code error) {
  if (error == code::host_unreachable) return socks_reply::host_unreachable;
  if (error == code::invalid_request) return socks_reply::command_not_supported;
  return socks_reply::not_allowed;
}

}  // namespace

std::string refusal_json(const refusal& why) {
  std::string text;
  append_field(text, "error", name_of(why.error));
  append_field(text, "message", why.message());
  append_field(text, "operation", name_of(why.op));
  append_field(text, "path", why.path);
  append_field_or_null(text, "resolved", why.resolved);
  append_field_or_null(text, "boundary", why.boundary);
  append_field(text, "remedy", name_of(why.help()));
  return text + "}\n";
}

std::string http_refusal(const refusal& why) {
  const auto body = refusal_json(why);
  return "HTTP/1.1 " + std::string{status_of(why.error)} +
         "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\nX-Pinfold-Refusal: " + std::string{name_of(why.error)} +
         "\r\n\r\n" + body;
}

std::string socks_refusal(const refusal& why) {
  return socks_answer(reply_of(why.error)) + refusal_json(why);
}

}  // namespace pinfold::egress_bytes
