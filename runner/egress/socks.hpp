// The two messages of a SOCKS5 client (RFC 1928), read strictly from a growing buffer. No
// authentication but none, no command but CONNECT.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "egress/fault.hpp"

namespace pinfold::egress_bytes {

inline constexpr char socks_version = 5;

/// What a reply says (section 6).
enum class socks_reply : std::uint8_t {
  succeeded = 0,
  general_failure = 1,
  not_allowed = 2,
  host_unreachable = 4,
  command_not_supported = 7,
};

struct socks_greeting {
  std::size_t size{0};  ///< bytes that it takes
};

/// The greeting; a client that does not offer "no authentication" is refused.
[[nodiscard]] reading<socks_greeting> read_socks_greeting(std::string_view bytes);

struct socks_request {
  std::string host;  ///< as an egress list spells it; a name byte for byte as it came
  std::uint16_t port{0};
  std::size_t size{0};
};

[[nodiscard]] reading<socks_request> read_socks_request(std::string_view bytes);

/// The answer to a greeting.
[[nodiscard]] std::string socks_method_chosen();
[[nodiscard]] std::string socks_no_method();

/// The answer to a request. No address is told: a client of ours has no use for it.
[[nodiscard]] std::string socks_answer(socks_reply says);

}  // namespace pinfold::egress_bytes
