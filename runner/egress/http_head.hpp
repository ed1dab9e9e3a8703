// The head of one HTTP request as a proxy gets it, read so strictly that no two readers can take it
// for different requests, and written anew from what was read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/host.hpp>

#include "egress/fault.hpp"

namespace pinfold::egress_bytes {

inline constexpr std::size_t most_head_bytes = 64 * 1024;

/// The bytes up to and with the first empty line, once they are there. A line that does not end in
/// CR LF, a bare CR, a NUL and a head over 64 KiB are faults as soon as they are seen. `from`: what
/// was looked at before, so that a slow sender costs nothing twice.
[[nodiscard]] reading<std::size_t> size_of_head(std::string_view bytes, std::size_t from = 0);

struct http_field {
  std::string_view name;
  std::string_view value;
};

/// A request to a proxy. Views into the head it was read from.
struct http_request {
  enum class body : std::uint8_t { none, sized, chunked };

  std::string_view method;
  std::string_view host;  ///< as it was written, brackets and all; nobody has decided on it yet
  std::uint32_t port{0};  ///< as it was written: may be 0 or over 65535
  std::string path;       ///< origin-form; empty for CONNECT
  unsigned minor{1};      ///< HTTP/1.0 or HTTP/1.1
  std::vector<http_field>
      fields;  ///< less what is of this hop, says whose request it is, or frames
  body framing{body::none};
  std::uint64_t length{0};

  [[nodiscard]] bool is_connect() const noexcept { return method == "CONNECT"; }
};

/// The request of a whole head, empty line included. Taken:
///  1. CONNECT with HOST:PORT, and no body;
///  2. any other method with http://HOST[:PORT]/..., and a body of one length or in chunks;
/// nothing else: no other scheme, no origin-form, no user, no fragment; no folded line, no space
/// before a colon, no control byte; at most one Host; not two lengths, nor a length with an encoding,
/// nor an encoding but "chunked", nor that in HTTP/1.0.
[[nodiscard]] std::expected<http_request, fault> read_request(std::string_view head);

/// The request for the server itself: origin-form, Host from what was decided on (with its port where
/// it is not 80), one framing, "Connection: close".
[[nodiscard]] std::string written_anew(const http_request& request, const host_text& host);

}  // namespace pinfold::egress_bytes
