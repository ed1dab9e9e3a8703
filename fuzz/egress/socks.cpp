#include "egress/socks.hpp"

#include <arpa/inet.h>

#include <array>

#include "egress/checks.hpp"
#include "egress/pieces.hpp"
#include "path/model.hpp"

namespace pinfold_fuzz {

namespace {

using namespace pinfold::egress_bytes;

std::size_t number_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

std::string greeting_by_model(std::string_view text) {
  if (text.size() < 2) return more;
  const auto count = number_at(text, 1);
  if (text[0] != 5 || count == 0) return refused;
  if (text.size() < 2 + count) return more;
  for (std::size_t i = 0; i < count; ++i) {
    if (text[2 + i] == 0) return std::to_string(2 + count);
  }
  return refused;
}

/// How many bytes a request takes.
std::string request_by_model(std::string_view text) {
  if (text.size() < 5) return more;
  if (!text.starts_with(std::string_view{"\5\1\0", 3})) return refused;
  const std::size_t address = text[3] == 1   ? 4
                              : text[3] == 4 ? 16
                              : text[3] == 3 ? 1 + number_at(text, 4)
                                             : 0;
  if (address == 0) return refused;
  return text.size() < 6 + address ? more : std::to_string(6 + address);
}

/// The address of that many bytes, as inet_ntop(3) spells it.
std::string address_by_model(std::string_view bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(bytes.size() == 4 ? AF_INET : AF_INET6, bytes.data(), text.data(), text.size());
  return text.data();
}

std::string shown(const socks_request& asked) {
  return asked.host + " " + std::to_string(asked.port) + " " + std::to_string(asked.size);
}

void check_host_of(const socks_request& asked, std::string_view text) {
  const std::string_view facts = text;
  const auto bytes = text.substr(0, asked.size);
  must_hold(bytes.size() == asked.size, "a request is as long as what has come", facts);
  const auto port = number_at(bytes, bytes.size() - 2) << 8U | number_at(bytes, bytes.size() - 1);
  must_hold(asked.port == port, "the port is its last two bytes", facts);
  const auto host = bytes.substr(4, bytes.size() - 6);
  switch (bytes[3]) {
    case 1:
      must_hold(host.size() == 4 && asked.host == address_by_model(host), "an IPv4 address", facts);
      break;
    case 4: {
      must_hold(host.size() == 16 && asked.host.starts_with('[') && asked.host.ends_with(']'),
                "an IPv6 address in brackets", facts);
      const auto inner = asked.host.substr(1, asked.host.size() - 2);
      must_hold(model::address<16>(inner) == model::address<16>(address_by_model(host)),
                "the same IPv6 address", facts);
      break;
    }
    default:
      must_hold(
          bytes[3] == 3 && host.size() == 1 + number_at(host, 0) && asked.host == host.substr(1),
          "a name as it came", facts);
  }
  check_asked(asked.host, asked.port);
}

}  // namespace

void check_socks(const std::string& text, const cuts& pieces) {
  const auto greeting = said_of_all(text, pieces.of(text.size()), [](std::string_view part) {
    return said(read_socks_greeting(part),
                [](const socks_greeting& one) { return std::to_string(one.size); });
  });
  must_hold(greeting == greeting_by_model(text), "a greeting is read to the letter", text);
  if (greeting == more || greeting == refused) return;
  const auto rest = text.substr(std::stoul(greeting));
  const auto request = said_of_all(rest, pieces.of(rest.size()), [](std::string_view part) {
    return said(read_socks_request(part), shown);
  });
  const auto size = request_by_model(rest);
  must_hold(request == size || request.ends_with(" " + size), "a request is read to the letter",
            rest);
  if (request != more && request != refused) check_host_of(**read_socks_request(rest), rest);
}

}  // namespace pinfold_fuzz
