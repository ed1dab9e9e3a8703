// The egress list: which host:port pairs a call may reach while the network is neither off nor
// open. Decides by the spelling of a host alone; the addresses it resolves to are checked by who
// dials.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <pinfold/error.hpp>
#include <pinfold/host.hpp>

namespace pinfold {

/// One entry of the list: a host and a port, or every name below a name and a port. Only a parser
/// makes one, so that a list of entries holds no bad ones. Owns its text, allocates nothing.
class egress_entry {
 public:
  /// `host_itself` for "example.com:443"; `names_below` for "*.example.com:443", which leaves out
  /// example.com.
  enum class scope : std::uint8_t { host_itself, names_below };

  [[nodiscard]] constexpr std::string_view host() const noexcept { return host_.text(); }
  [[nodiscard]] constexpr scope covers() const noexcept { return scope_; }
  [[nodiscard]] constexpr std::uint16_t port() const noexcept { return port_; }

  /// The entry as it would be written: "example.com:443", "*.example.com:443", "[::1]:80".
  [[nodiscard]] constexpr std::string text() const {
    std::string written;
    if (scope_ == scope::names_below) written += "*.";
    if (host_.kind() == host_kind::ipv6) written += '[';
    written += host_.text();
    if (host_.kind() == host_kind::ipv6) written += ']';
    std::string digits;
    for (unsigned rest = port_; rest > 0; rest /= 10) {
      digits.insert(digits.begin(), static_cast<char>('0' + rest % 10));
    }
    return written + ':' + digits;
  }

  [[nodiscard]] constexpr bool matches(const host_text& host, std::uint16_t port) const noexcept {
    if (port != port_ || host.kind() != host_.kind()) return false;
    if (scope_ == scope::host_itself) return host.text() == host_.text();
    auto name = host.text();
    if (!name.ends_with(host_.text())) return false;
    name.remove_suffix(host_.text().size());
    return name.size() > 1 && name.ends_with('.');
  }

  friend constexpr bool operator==(const egress_entry&, const egress_entry&) noexcept = default;

 private:
  friend constexpr std::expected<egress_entry, code> parse_egress_entry(std::string_view) noexcept;
  constexpr egress_entry(const host_text& host, scope covers, std::uint16_t port) noexcept
      : host_{host}, scope_{covers}, port_{port} {}

  host_text host_;
  scope scope_;
  std::uint16_t port_;
};

/// A port number of a call, 1 to 65535, or nothing.
[[nodiscard]] constexpr std::optional<std::uint16_t> checked_port(std::uint32_t port) noexcept {
  if (port == 0 || port > 65535) return std::nullopt;
  return static_cast<std::uint16_t>(port);
}

/// An entry from its text. Error `invalid_egress_entry` for anything but
///  1. HOST:PORT, the host in any spelling that `parse_host` takes (IPv6 in brackets), or
///  2. *.NAME:PORT, where the name has two labels or more;
/// and the port a decimal number from 1 to 65535 without a sign or a leading zero. No star alone,
/// no range, no scheme, no path: who wants everything opens the gate.
[[nodiscard]] constexpr std::expected<egress_entry, code> parse_egress_entry(
    std::string_view text) noexcept {
  constexpr auto bad = std::unexpected{code::invalid_egress_entry};
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad;
  const auto port = detail::parse_decimal(text.substr(colon + 1), 65535);
  if (!port || *port == 0) return bad;
  text = text.substr(0, colon);
  const bool has_star = text.starts_with("*.");
  if (has_star) text.remove_prefix(2);
  const auto host = parse_host(text);
  if (!host) return bad;
  if (has_star && (host->kind() != host_kind::name || !host->text().contains('.'))) return bad;
  return egress_entry{
      *host, has_star ? egress_entry::scope::names_below : egress_entry::scope::host_itself,
      static_cast<std::uint16_t>(*port)};
}

/// An entry written in the source: a bad one does not compile.
[[nodiscard]] consteval egress_entry egress(std::string_view text) {
  return parse_egress_entry(text).value();
}

/// What the list says about one host and port.
struct egress_decision {
  enum class answer : std::uint8_t { invalid, deny, allow } says{answer::invalid};
  /// The host in canonical spelling: the one that was decided about, and the one to dial. Empty
  /// when the text was no host or the number no port.
  std::optional<host_text> host;

  friend constexpr bool operator==(const egress_decision& a, answer b) noexcept {
    return a.says == b;
  }
};

/// Whether the list lets a call reach a host and port. Decided in this order:
///  1. no host, or no port from 1 to 65535 -> invalid
///  2. an entry matches                    -> allow
///  3. anything else, so an empty list too -> deny
[[nodiscard]] constexpr egress_decision decide_egress(std::span<const egress_entry> list,
                                                      std::string_view host,
                                                      std::uint32_t port) noexcept {
  using enum egress_decision::answer;
  const auto parsed = parse_host(host);
  const auto number = checked_port(port);
  if (!parsed || !number) return {};
  bool is_listed = false;
  for (const auto& entry : list) is_listed = is_listed || entry.matches(*parsed, *number);
  return {.says = is_listed ? allow : deny, .host = parsed};
}

}  // namespace pinfold
