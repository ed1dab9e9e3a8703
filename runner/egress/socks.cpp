#include "egress/socks.hpp"

#include <algorithm>

#include "egress/address.hpp"

namespace pinfold::egress_bytes {
namespace {

constexpr char no_authentication = 0;
constexpr char command_connect = 1;
constexpr char type_v4 = 1, type_name = 3, type_v6 = 4;

std::string address_text(std::string_view bytes, ip_address::family kind) {
  ip_address address{.kind = kind};
  std::ranges::transform(bytes, address.bytes.begin(),
                         [](char c) { return static_cast<std::uint8_t>(c); });
  return text_of(address);
}

}  // namespace

reading<socks_greeting> read_socks_greeting(std::string_view bytes) {
  if (bytes.size() < 2) return std::nullopt;
  if (bytes[0] != socks_version) return bad("it is no SOCKS5 greeting");
  const std::size_t count = static_cast<unsigned char>(bytes[1]);
  if (count == 0) return bad("a SOCKS5 greeting without a method");
  if (bytes.size() < 2 + count) return std::nullopt;
  if (!bytes.substr(2, count).contains(no_authentication)) {
    return bad("the proxy takes SOCKS5 without authentication only");
  }
  return socks_greeting{2 + count};
}

reading<socks_request> read_socks_request(std::string_view bytes) {
  constexpr std::size_t before_address = 4;
  if (bytes.size() < before_address + 1) return std::nullopt;
  if (bytes[0] != socks_version || bytes[2] != 0) return bad("it is no SOCKS5 request");
  if (bytes[1] != command_connect) return bad("the proxy takes the SOCKS5 command CONNECT only");
  const std::size_t name_length = static_cast<unsigned char>(bytes[before_address]);
  std::size_t start = before_address;
  std::size_t length = 0;
  switch (bytes[3]) {
    case type_v4:
      length = 4;
      break;
    case type_v6:
      length = 16;
      break;
    case type_name:
      start = before_address + 1;
      length = name_length;
      break;
    default:
      return bad("it is no kind of address that SOCKS5 has");
  }
  const auto size = start + length + 2;
  if (bytes.size() < size) return std::nullopt;
  const auto text = bytes.substr(start, length);
  socks_request asked{.host = {}, .port = 0, .size = size};
  if (bytes[3] == type_name) asked.host = text;
  if (bytes[3] == type_v4) asked.host = address_text(text, ip_address::family::v4);
  if (bytes[3] == type_v6) asked.host = address_text(text, ip_address::family::v6);
  const auto high = static_cast<unsigned char>(bytes[size - 2]);
  const auto low = static_cast<unsigned char>(bytes[size - 1]);
  asked.port = static_cast<std::uint16_t>(high << 8U | low);
  return asked;
}

std::string socks_method_chosen() {
  return {socks_version, no_authentication};
}

std::string socks_no_method() {
  return {socks_version, '\xff'};
}

std::string socks_answer(socks_reply says) {
  return {socks_version, static_cast<char>(says), 0, type_v4, 0, 0, 0, 0, 0, 0};
}

}  // namespace pinfold::egress_bytes
