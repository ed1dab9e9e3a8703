// What the first byte that comes from inside says about the rest.
#pragma once

#include <cstdint>

#include "egress/client_hello.hpp"
#include "egress/socks.hpp"

namespace pinfold::egress_bytes {

enum class opening : std::uint8_t {
  http,     ///< a method: those that are in use begin with a capital letter
  socks5,   ///< its version
  tls,      ///< a record of a handshake
  unknown,  ///< nothing that the proxy speaks
};

[[nodiscard]] constexpr opening opening_of(char first) noexcept {
  if (first == socks_version) return opening::socks5;
  if (first == tls_handshake) return opening::tls;
  return first >= 'A' && first <= 'Z' ? opening::http : opening::unknown;
}

}  // namespace pinfold::egress_bytes
