#include <array>
#include <optional>
#include <string>
#include <vector>

#include "egress/checks.hpp"
#include "egress/client_hello.hpp"
#include "egress/decide.hpp"
#include "egress/http_head.hpp"
#include "egress/opening.hpp"
#include "egress/pieces.hpp"

namespace pinfold_fuzz {

namespace {

using namespace pinfold::egress_bytes;
using pinfold::tls_names;

std::string shown(const client_hello& hello) {
  return quoted(hello.server_name) + (hello.is_encrypted ? " encrypted" : "");
}

std::size_t number_at(std::string_view text, std::size_t at, std::size_t bytes) {
  std::size_t value = 0;
  for (const char c : text.substr(at, bytes)) value = value * 256 + static_cast<unsigned char>(c);
  return value;
}

/// All the bytes of the records that the text begins with.
std::string unwrapped(std::string_view text) {
  std::string message;
  for (std::size_t at = 0; at + 5 <= text.size();) {
    const auto length = number_at(text, at + 3, 2);
    if (text[at] != '\x16' || text[at + 1] != '\3' || at + 5 + length > text.size()) break;
    message += text.substr(at + 5, length);
    at += 5 + length;
  }
  return message;
}

struct seen_extension {
  std::size_t type;
  std::string body;
};

/// The extensions of a hello that has been taken, by plain arithmetic.
std::vector<seen_extension> extensions_by_model(std::string_view text) {
  const auto message = unwrapped(text);
  must_hold(message.size() >= 4 && message[0] == 1, "a hello is one", text);
  const auto body = message.substr(4, number_at(message, 1, 3));
  std::size_t at = 34;
  at += 1 + number_at(body, at, 1);
  at += 2 + number_at(body, at, 2);
  at += 1 + number_at(body, at, 1);
  std::vector<seen_extension> found;
  if (at == body.size()) return found;
  must_hold(at + 2 + number_at(body, at, 2) == body.size(), "the lengths fit each other", text);
  for (at += 2; at < body.size();) {
    const auto length = number_at(body, at + 2, 2);
    must_hold(at + 4 + length <= body.size(), "an extension lies within", text);
    found.push_back({number_at(body, at, 2), body.substr(at + 4, length)});
    at += 4 + length;
  }
  return found;
}

/// Every name that a reader could find in an extension that names servers.
std::vector<std::string> names_by_model(const std::string& body) {
  std::vector<std::string> names;
  for (std::size_t at = 2; at + 3 <= body.size();) {
    const auto length = number_at(body, at + 1, 2);
    names.push_back(body.substr(at + 3, length));
    at += 3 + length;
  }
  return names;
}

void check_taken(const client_hello& hello, std::string_view text) {
  const std::string_view facts = text;
  std::vector<std::string> names;
  bool is_encrypted = false;
  for (const auto& [type, body] : extensions_by_model(text)) {
    if (type == 0) {
      must_hold(body.size() >= 2 && number_at(body, 0, 2) == body.size() - 2, "a list of names",
                facts);
      for (auto& name : names_by_model(body)) names.push_back(std::move(name));
    }
    is_encrypted = is_encrypted || type == 0xfe0d || type == 0xffce;
  }
  const auto expected =
      hello.server_name.empty() ? std::vector<std::string>{} : std::vector{hello.server_name};
  must_hold(names == expected, "no reader finds another name", facts);
  must_hold(hello.is_encrypted == is_encrypted, "what may hide a name is known", facts);
}

void check_decided(const client_hello& hello, std::string_view text) {
  constexpr std::array hosts{std::string_view{"example.com"}, std::string_view{"127.0.0.1"}};
  const auto named = pinfold::parse_host(hello.server_name);
  for (const auto& other : hosts) {
    const auto host = pinfold::parse_host(other).value();
    const auto may = [&](tls_names names) {
      return pinfold::decide_hello(hello, names, host, 443).has_value();
    };
    const bool is_his = named == host;
    must_hold(may(tls_names::required) == (is_his && !hello.is_encrypted),
              "a tunnel opens with a hello for its host", text);
    must_hold(may(tls_names::optional) == (is_his || hello.server_name.empty()),
              "a name that is there is the host's", text);
  }
}

}  // namespace

void check_opening(std::string_view text) {
  if (text.empty()) return;
  const auto by = opening_of(text.front());
  const bool is_method = text.front() >= 'A' && text.front() <= 'Z';
  must_hold((by == opening::http) == is_method, "HTTP begins with a method", text);
  const auto takes = [&](const auto& answer) { return answer && *answer; };
  must_hold(by == opening::socks5 || !takes(read_socks_greeting(text)),
            "a greeting begins with its version", text);
  must_hold(by == opening::tls || !takes(read_client_hello(text)), "a hello begins with its record",
            text);
}

void check_hello(const std::string& text, const cuts& pieces) {
  const auto bounded = text.substr(0, most_hello_bytes);
  const auto says = said_of_all(bounded, pieces.of(bounded.size()), [](std::string_view part) {
    return said(read_client_hello(part), shown);
  });
  must_hold(says != more || bounded.size() < most_hello_bytes,
            "nobody is waited for beyond the bound", text);
  if (says == more || says == refused) return;
  const auto hello = **read_client_hello(bounded);
  check_taken(hello, bounded);
  check_decided(hello, bounded);
}

namespace {

std::string two_bytes(std::size_t value) {
  return {static_cast<char>(value >> 8U), static_cast<char>(value & 255U)};
}

std::string sized(std::string_view body) {
  return two_bytes(body.size()) + std::string{body};
}

std::string random_extension(bytes& input) {
  constexpr std::array<std::size_t, 6> types{1, 10, 16, 43, 51, 0xfe0c};
  const auto type = input.one_of(types);
  return two_bytes(type) + sized(input.text());
}

std::string name_extension(std::string_view name) {
  return two_bytes(0) + sized(sized(std::string(1, '\0') + sized(name)));
}

/// A message in records of the sizes that the input names.
std::string in_records(bytes& input, std::string_view message) {
  std::string text;
  while (!message.empty()) {
    const auto size = std::min<std::size_t>(input.byte() + std::size_t{1}, message.size());
    text += std::string{"\x16\3\1", 3} + sized(message.substr(0, size));
    message.remove_prefix(size);
  }
  return text;
}

}  // namespace

void check_made_hello(bytes& input, const cuts& pieces) {
  constexpr std::array names{std::string_view{"example.com"}, std::string_view{"EXAMPLE.com"},
                             std::string_view{"other.example"}, std::string_view{"127.0.0.1"}};
  const std::string name{input.coin() ? input.one_of(names) : input.text()};
  const auto count = input.below(4);
  const bool is_encrypted = input.coin();
  const bool is_twice = input.coin();
  std::string list;
  for (std::size_t i = 0; i < count; ++i) list += random_extension(input);
  if (!name.empty()) list += name_extension(name);
  if (is_encrypted) list += two_bytes(input.coin() ? 0xfe0dU : 0xffceU) + sized("x");
  list += random_extension(input);
  if (is_twice) list += name_extension("example.com");

  std::string body = "\3\3" + std::string(32, 'r');
  const auto session = input.text();
  body += static_cast<char>(session.size()) + std::string{session};
  body += sized(input.text()) + std::string{"\1\0", 2} + sized(list);
  const auto text =
      in_records(input, std::string{"\1\0", 2} + two_bytes(body.size()) + body) + "and more";
  check_hello(text, pieces);
  const auto hello = read_client_hello(text);
  if (is_twice && !name.empty()) {
    must_hold(!hello, "a name that is there twice is refused", text);
    return;
  }
  const auto expected = is_twice ? "example.com" : name;
  must_hold(hello && *hello && (*hello)->server_name == expected &&
                (*hello)->is_encrypted == is_encrypted,
            "a hello by the rules is read as it was meant", text);
}

}  // namespace pinfold_fuzz
