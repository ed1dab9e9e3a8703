// Addresses, and which of them are the public Internet's. Pure: nothing here asks a resolver. What is
// not known to be public is not.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <pinfold/host.hpp>

namespace pinfold {

/// An IPv4 address (the first four bytes) or an IPv6 address, in the order of the wire.
struct ip_address {
  enum class family : std::uint8_t { v4, v6 } kind{family::v4};
  std::array<std::uint8_t, 16> bytes{};

  friend constexpr bool operator==(const ip_address&, const ip_address&) noexcept = default;
};

namespace detail {

struct address_block {
  std::array<std::uint8_t, 16> start;
  unsigned bits;
  std::string_view name;
};

[[nodiscard]] constexpr bool is_within(const ip_address& address,
                                       const address_block& block) noexcept {
  for (unsigned bit = 0; bit < block.bits; ++bit) {
    const auto mask = static_cast<std::uint8_t>(0x80U >> bit % 8);
    if (((address.bytes[bit / 8] ^ block.start[bit / 8]) & mask) != 0) return false;
  }
  return true;
}

/// The special blocks of IPv4 (IANA's registry), and the one public address that a cloud keeps for
/// its metadata.
inline constexpr std::array special_v4{
    address_block{{0}, 8, "this network, unspecified"},
    address_block{{10}, 8, "private"},
    address_block{{100, 64}, 10, "shared by a carrier"},
    address_block{{127}, 8, "loopback"},
    address_block{{169, 254}, 16, "link-local, where clouds keep their metadata"},
    address_block{{172, 16}, 12, "private"},
    address_block{{192, 0, 0}, 24, "kept for protocols"},
    address_block{{192, 0, 2}, 24, "for documentation"},
    address_block{{192, 88, 99}, 24, "a 6to4 relay"},
    address_block{{192, 168}, 16, "private"},
    address_block{{198, 18}, 15, "for benchmarks"},
    address_block{{198, 51, 100}, 24, "for documentation"},
    address_block{{203, 0, 113}, 24, "for documentation"},
    address_block{{168, 63, 129, 16}, 32, "a cloud's metadata"},
    address_block{{224}, 4, "multicast"},
    address_block{{240}, 4, "reserved, broadcast"},
};

/// Of IPv6 only 2000::/3 is public, less these. The first rows give names to what lies outside.
inline constexpr address_block public_v6{{0x20}, 3, ""};
inline constexpr std::array special_v6{
    address_block{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96, "an IPv4 address in IPv6"},
    address_block{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 128, "unspecified"},
    address_block{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 128, "loopback"},
    address_block{{0}, 96, "an IPv4 address in IPv6"},
    address_block{{0x00, 0x64, 0xff, 0x9b}, 32, "an IPv4 address behind NAT64"},
    address_block{{0xfc}, 7, "private"},
    address_block{{0xfe, 0x80}, 10, "link-local"},
    address_block{{0xff}, 8, "multicast"},
    address_block{{0x20, 0x01}, 23, "kept for protocols, Teredo"},
    address_block{{0x20, 0x01, 0x0d, 0xb8}, 32, "for documentation"},
    address_block{{0x20, 0x02}, 16, "an IPv4 address by 6to4"},
    address_block{{0x3f, 0xff}, 20, "for documentation"},
};

}  // namespace detail

/// What an address is that is not the public Internet's, in words; empty for a public one.
[[nodiscard]] constexpr std::string_view special_use_of(const ip_address& address) noexcept {
  const auto holds = [&](const detail::address_block& block) {
    return detail::is_within(address, block);
  };
  if (address.kind == ip_address::family::v4) {
    const auto* found = std::ranges::find_if(detail::special_v4, holds);
    return found == detail::special_v4.end() ? std::string_view{} : found->name;
  }
  const auto* found = std::ranges::find_if(detail::special_v6, holds);
  if (found != detail::special_v6.end()) return found->name;
  return holds(detail::public_v6) ? std::string_view{} : "in no public block";
}

/// The address as an egress list spells it: a dotted quad, or IPv6 in brackets.
[[nodiscard]] inline std::string text_of(const ip_address& address) {
  std::string text;
  if (address.kind == ip_address::family::v4) {
    for (std::size_t i = 0; i < 4; ++i) {
      text += (i > 0 ? "." : "") + std::to_string(address.bytes[i]);
    }
    return text;
  }
  constexpr std::string_view hex = "0123456789abcdef";
  for (std::size_t i = 0; i < 16; ++i) {
    if (i > 0 && i % 2 == 0) text += ':';
    text += {hex[address.bytes[i] >> 4U], hex[address.bytes[i] & 15U]};
  }
  const auto host = parse_host("[" + text + "]");
  return "[" + std::string{host ? host->text() : text} + "]";
}

/// The address that a canonical host is, or nothing for a name.
[[nodiscard]] constexpr std::optional<ip_address> address_in(const host_text& host) noexcept {
  ip_address address;
  switch (host.kind()) {
    case host_kind::name:
      return std::nullopt;
    case host_kind::ipv4: {
      const auto bytes = parse_ipv4(host.text());
      if (!bytes) return std::nullopt;
      std::ranges::copy(*bytes, address.bytes.begin());
      return address;
    }
    case host_kind::ipv6: {
      const auto groups = parse_ipv6(host.text());
      if (!groups) return std::nullopt;
      address.kind = ip_address::family::v6;
      for (std::size_t i = 0; i < 8; ++i) {
        address.bytes[2 * i] = static_cast<std::uint8_t>((*groups)[i] >> 8U);
        address.bytes[2 * i + 1] = static_cast<std::uint8_t>((*groups)[i] & 255U);
      }
      return address;
    }
  }
  return std::nullopt;
}

}  // namespace pinfold
