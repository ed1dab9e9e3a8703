// Host names and addresses as text: one canonical spelling for each, or none at all. Nothing here
// asks a resolver, and nothing unclear is mended: what has no canonical spelling is no host.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pinfold {

/// Longest name in its text form without the trailing dot (RFC 1035, section 2.3.4: 255 bytes on
/// the wire), and longest label.
inline constexpr std::size_t host_max = 253;
inline constexpr std::size_t label_max = 63;

enum class host_kind : std::uint8_t { name, ipv4, ipv6 };

/// A host in its canonical spelling: a name in lower case without a trailing dot, a dotted quad, or
/// an IPv6 address as in RFC 5952 without brackets. Owns its text, allocates nothing.
class host_text {
 public:
  [[nodiscard]] constexpr std::string_view text() const noexcept { return {text_.data(), size_}; }
  [[nodiscard]] constexpr host_kind kind() const noexcept { return kind_; }

  friend constexpr bool operator==(const host_text& a, const host_text& b) noexcept {
    return a.kind_ == b.kind_ && a.text() == b.text();
  }

 private:
  friend constexpr std::optional<host_text> parse_host(std::string_view) noexcept;

  constexpr explicit host_text(host_kind kind) noexcept : kind_{kind} {}
  constexpr void append(char c) noexcept { text_[size_++] = c; }
  constexpr void append(std::string_view text) noexcept {
    for (char c : text) append(c);
  }
  constexpr void append_number(unsigned value, unsigned base) noexcept {
    if (value >= base) append_number(value / base, base);
    append("0123456789abcdef"[value % base]);
  }
  constexpr void append_quad(std::uint16_t high, std::uint16_t low) noexcept;
  constexpr void append_groups(const std::array<std::uint16_t, 8>& groups) noexcept;

  std::array<char, host_max + 1> text_{};
  std::uint8_t size_{0};
  host_kind kind_;
};

namespace detail {

[[nodiscard]] constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
[[nodiscard]] constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// The value of a hexadecimal digit, or 16.
[[nodiscard]] constexpr unsigned hex_value(char c) noexcept {
  if (is_digit(c)) return static_cast<unsigned>(c - '0');
  c = lower(c);
  return c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a') + 10 : 16;
}

/// Takes the text before the first `separator` off the front of `rest`, the separator too.
[[nodiscard]] constexpr std::string_view take_until(std::string_view& rest,
                                                    char separator) noexcept {
  const auto end = rest.find(separator);
  const auto front = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  return front;
}

/// A decimal number up to `most` without sign, spare zeros or anything else.
[[nodiscard]] constexpr std::optional<unsigned> parse_decimal(std::string_view text,
                                                              unsigned most) noexcept {
  if (text.empty() || text.size() > 5 || (text.size() > 1 && text.front() == '0')) {
    return std::nullopt;
  }
  unsigned value = 0;
  for (char c : text) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  return value <= most ? std::optional{value} : std::nullopt;
}

}  // namespace detail

/// The four bytes of a canonical dotted quad. "127.1", "0x7f.0.0.1", "127.0.0.01" are none.
[[nodiscard]] constexpr std::optional<std::array<std::uint8_t, 4>> parse_ipv4(
    std::string_view text) noexcept {
  std::array<std::uint8_t, 4> bytes{};
  for (std::size_t i = 0; i < 4; ++i) {
    const bool is_last = text.find('.') == std::string_view::npos;
    if (is_last != (i == 3)) return std::nullopt;
    const auto value = detail::parse_decimal(detail::take_until(text, '.'), 255);
    if (!value) return std::nullopt;
    bytes[i] = static_cast<std::uint8_t>(*value);
  }
  return bytes;
}

namespace detail {

/// The groups on one side of "::", read from `text` into `groups`: how many, or nothing when the
/// text is no such list. The last two may be written as a dotted quad where `quad` allows it.
enum class quad : std::uint8_t { forbidden, allowed };
[[nodiscard]] constexpr std::optional<std::size_t> parse_groups(
    std::string_view text, quad tail, std::array<std::uint16_t, 8>& groups) noexcept {
  std::size_t count = 0;
  if (text.empty()) return count;
  if (text.ends_with(':')) return std::nullopt;
  while (!text.empty()) {
    const auto group = take_until(text, ':');
    if (group.find('.') != std::string_view::npos) {
      const auto bytes = parse_ipv4(group);
      if (!bytes || tail == quad::forbidden || !text.empty() || count > 6) return std::nullopt;
      groups[count++] = static_cast<std::uint16_t>((*bytes)[0] << 8 | (*bytes)[1]);
      groups[count++] = static_cast<std::uint16_t>((*bytes)[2] << 8 | (*bytes)[3]);
      break;
    }
    if (group.empty() || group.size() > 4 || count == 8) return std::nullopt;
    unsigned value = 0;
    for (char c : group) {
      if (hex_value(c) > 15) return std::nullopt;
      value = value << 4 | hex_value(c);
    }
    groups[count++] = static_cast<std::uint16_t>(value);
  }
  return count;
}

}  // namespace detail

/// The eight groups of an IPv6 address without brackets, in any of the spellings of RFC 4291,
/// section 2.2. A zone ("fe80::1%eth0") is none of them.
[[nodiscard]] constexpr std::optional<std::array<std::uint16_t, 8>> parse_ipv6(
    std::string_view text) noexcept {
  std::array<std::uint16_t, 8> groups{};
  const auto gap = text.find("::");
  if (gap == std::string_view::npos) {
    const auto count = detail::parse_groups(text, detail::quad::allowed, groups);
    return count == 8 ? std::optional{groups} : std::nullopt;
  }
  if (text.substr(gap + 2).starts_with(':')) return std::nullopt;
  std::array<std::uint16_t, 8> tail{};
  const auto before = detail::parse_groups(text.substr(0, gap), detail::quad::forbidden, groups);
  const auto after = detail::parse_groups(text.substr(gap + 2), detail::quad::allowed, tail);
  if (!before || !after || *before + *after > 7) return std::nullopt;
  for (std::size_t i = 0; i < *after; ++i) groups[8 - *after + i] = tail[i];
  return groups;
}

/// True when the last label is a number in any base: such a text is meant as an address, so it must
/// not pass as a name.
[[nodiscard]] constexpr bool ends_in_a_number(std::string_view name) noexcept {
  auto label = name.substr(name.rfind('.') + 1);
  if (label.starts_with("0x") || label.starts_with("0X")) {
    label.remove_prefix(2);
    while (!label.empty() && detail::hex_value(label.front()) < 16) label.remove_prefix(1);
    return label.empty();
  }
  while (!label.empty() && detail::is_digit(label.front())) label.remove_prefix(1);
  return label.empty();
}

/// True for labels of letters, digits and inner hyphens (RFC 1123, section 2.1), ASCII only: a name
/// in another script is written in punycode ("xn--...").
[[nodiscard]] constexpr bool is_host_name(std::string_view name) noexcept {
  if (name.empty() || name.size() > host_max || name.ends_with('.')) return false;
  while (!name.empty()) {
    const auto label = detail::take_until(name, '.');
    if (label.empty() || label.size() > label_max) return false;
    if (label.front() == '-' || label.back() == '-') return false;
    for (char c : label) {
      const char small = detail::lower(c);
      if (!(small >= 'a' && small <= 'z') && !detail::is_digit(c) && c != '-') return false;
    }
  }
  return true;
}

constexpr void host_text::append_quad(std::uint16_t high, std::uint16_t low) noexcept {
  append_number(high >> 8U, 10);
  append('.');
  append_number(high & 255U, 10);
  append('.');
  append_number(low >> 8U, 10);
  append('.');
  append_number(low & 255U, 10);
}

/// RFC 5952, sections 4 and 5: lower case, no leading zeros, the first longest run of two or more
/// zero groups as "::", an IPv4-mapped address with its dotted quad.
constexpr void host_text::append_groups(const std::array<std::uint16_t, 8>& groups) noexcept {
  std::size_t gap = 8;
  std::size_t length = 1;
  for (std::size_t i = 0; i < 8; ++i) {
    std::size_t end = i;
    while (end < 8 && groups[end] == 0) ++end;
    if (end - i > length) {
      gap = i;
      length = end - i;
    }
  }
  const bool is_mapped = gap == 0 && length == 5 && groups[5] == 0xffff;
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == gap) {
      append("::");
      i += length - 1;
      continue;
    }
    if (i > 0 && text_[size_ - 1U] != ':') append(':');
    if (is_mapped && i == 6) return append_quad(groups[6], groups[7]);
    append_number(groups[i], 16);
  }
}

/// The canonical host that a text spells, or nothing. Decided in this order:
///  1. in brackets                 -> an IPv6 address, or no host
///  2. last label is a number      -> a canonical dotted quad, or no host
///  3. one trailing dot is dropped; labels of letters, digits, hyphens -> a name
///  4. anything else               -> no host
[[nodiscard]] constexpr std::optional<host_text> parse_host(std::string_view text) noexcept {
  if (text.starts_with('[')) {
    if (!text.ends_with(']') || text.size() < 4) return std::nullopt;
    const auto groups = parse_ipv6(text.substr(1, text.size() - 2));
    if (!groups) return std::nullopt;
    host_text address{host_kind::ipv6};
    address.append_groups(*groups);
    return address;
  }
  if (parse_ipv4(text)) {
    host_text address{host_kind::ipv4};
    address.append(text);
    return address;
  }
  if (text.ends_with('.')) text.remove_suffix(1);
  if (!is_host_name(text) || ends_in_a_number(text)) return std::nullopt;
  host_text name{host_kind::name};
  for (char c : text) name.append(detail::lower(c));
  return name;
}

}  // namespace pinfold
