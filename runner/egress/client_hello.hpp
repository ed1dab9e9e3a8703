// What a TLS client says first: which server it means. Nothing is decrypted, nothing is changed; the
// bytes are passed on as they came.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "egress/fault.hpp"

namespace pinfold::egress_bytes {

/// The first byte of a TLS connection: a record of the handshake.
inline constexpr char tls_handshake = 0x16;

/// At most so many bytes are read for one hello, its records' headers included.
inline constexpr std::size_t most_hello_bytes = 17 * 1024;

struct client_hello {
  std::string server_name;   ///< byte for byte; empty when none is given
  bool is_encrypted{false};  ///< a hello that may hide another one (ECH, or the older ESNI)
};

/// The ClientHello at the start of `bytes` (RFC 8446, section 4.1.2; RFC 6066, section 3). A hello in
/// which two readers could see different names is refused: an extension twice, more than one name,
/// lengths that do not fit each other.
[[nodiscard]] reading<client_hello> read_client_hello(std::string_view bytes);

/// A fatal alert "access_denied", as the server would send it (RFC 8446, section 6).
[[nodiscard]] std::string tls_access_denied();

}  // namespace pinfold::egress_bytes
