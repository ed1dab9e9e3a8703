// A cursor over bytes that says at each step whether there is as much as is asked for.
#include "egress/client_hello.hpp"

#include <optional>

namespace pinfold::egress_bytes {
namespace {

constexpr unsigned extension_server_name = 0;
constexpr unsigned extension_encrypted_hello = 0xfe0d;
constexpr unsigned extension_encrypted_name = 0xffce;       // before ECH
constexpr std::size_t most_record = std::size_t{1} << 14U;  // RFC 8446, section 5.1

class cursor {
 public:
  explicit cursor(std::string_view bytes) : rest_{bytes} {}

  [[nodiscard]] bool is_at_end() const { return rest_.empty(); }
  [[nodiscard]] std::size_t left() const { return rest_.size(); }

  std::optional<std::string_view> take(std::size_t count) {
    if (rest_.size() < count) return std::nullopt;
    const auto taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::optional<std::size_t> number(std::size_t bytes) {
    const auto taken = take(bytes);
    if (!taken) return std::nullopt;
    std::size_t value = 0;
    for (const char c : *taken) value = value << 8U | static_cast<unsigned char>(c);
    return value;
  }
  /// What stands behind its own length.
  std::optional<std::string_view> sized(std::size_t length_bytes) {
    const auto length = number(length_bytes);
    return length ? take(*length) : std::nullopt;
  }

 private:
  std::string_view rest_;
};

/// The handshake message in the records at the start of `bytes`, once all of it is there.
reading<std::string> first_message(std::string_view bytes) {
  constexpr std::size_t message_header = 4;
  std::string message;
  for (cursor records{bytes};;) {
    if (message.size() >= message_header) {
      cursor header{message};
      const auto kind = header.number(1);
      const auto length = header.number(3);
      if (*kind != 1) return bad("the first TLS message is no ClientHello");
      if (*length > most_hello_bytes) return bad("the ClientHello is too long");
      if (message.size() > message_header + *length) {
        return bad("something follows the ClientHello in its record");
      }
      if (message.size() == message_header + *length) return message.substr(message_header);
    }
    const auto type = records.number(1);
    if (type && *type != static_cast<unsigned char>(tls_handshake)) {
      return bad("it is no TLS handshake");
    }
    const auto major = records.number(1);
    if (major && *major != 3) return bad("it is no TLS that is known");
    const auto minor = records.number(1);
    const auto length = records.number(2);
    if (length && (*length == 0 || *length > most_record)) return bad("a TLS record of no size");
    const auto part = length ? records.take(*length) : std::nullopt;
    if (!minor || !part) {
      if (bytes.size() >= most_hello_bytes) return bad("the ClientHello is too long");
      return std::nullopt;
    }
    message += *part;
  }
}

/// The one host name of the extension server_name; false when it holds anything else.
bool read_name(std::string_view extension, std::string& name) {
  cursor body{extension};
  const auto list = body.sized(2);
  if (!list || !body.is_at_end()) return false;
  cursor entries{*list};
  const auto type = entries.number(1);
  const auto text = entries.sized(2);
  if (!type || *type != 0 || !text || text->empty() || !entries.is_at_end()) return false;
  name = *text;
  return true;
}

reading<client_hello> read_extensions(std::string_view list) {
  client_hello hello;
  for (cursor extensions{list}; !extensions.is_at_end();) {
    const auto type = extensions.number(2);
    const auto body = extensions.sized(2);
    if (!type || !body) return bad("the ClientHello's extensions do not fit");
    if (*type == extension_encrypted_hello || *type == extension_encrypted_name) {
      hello.is_encrypted = true;
    }
    if (*type != extension_server_name) continue;
    if (!hello.server_name.empty()) return bad("the ClientHello names its server twice");
    if (!read_name(*body, hello.server_name)) return bad("the ClientHello's server name is none");
  }
  return hello;
}

}  // namespace

reading<client_hello> read_client_hello(std::string_view bytes) {
  auto message = first_message(bytes);
  if (!message) return std::unexpected{message.error()};
  if (!*message) return std::nullopt;
  constexpr std::size_t version_and_random = 2 + 32;
  cursor hello{**message};
  const bool has_start = hello.take(version_and_random) && hello.sized(1)  // session
                         && hello.sized(2)                                 // cipher suites
                         && hello.sized(1);                                // compression
  if (!has_start) return bad("the ClientHello does not fit");
  if (hello.is_at_end()) return client_hello{};  // no extensions at all
  const auto extensions = hello.sized(2);
  if (!extensions || !hello.is_at_end()) return bad("the ClientHello's extensions do not fit");
  return read_extensions(*extensions);
}

std::string tls_access_denied() {
  return {0x15, 3, 3, 0, 2, 2, 49};
}

}  // namespace pinfold::egress_bytes
