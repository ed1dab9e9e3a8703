// The network decision: gate, mode and taint give deny, ask or allow. One table, written out.
// It must be asked afresh for each call: an earlier call of the same turn may have added a label.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <pinfold/settings.hpp>
#include <pinfold/taint.hpp>

namespace pinfold {

/// How wide the network is open, the strictest first.
enum class gate : std::uint8_t {
  off,        ///< never
  untainted,  ///< while the session has no label
  guarded,    ///< until it holds private data and untrusted content: with a way out, that leaks
  on,         ///< always
};

[[nodiscard]] constexpr std::string_view name_of(gate value) noexcept {
  switch (value) {
    case gate::off:
      return "off";
    case gate::untainted:
      return "untainted";
    case gate::guarded:
      return "guarded";
    case gate::on:
      return "on";
  }
  return "off";
}

/// The gate of that name, or nothing.
[[nodiscard]] constexpr std::optional<gate> parse_gate(std::string_view name) noexcept {
  for (auto value : std::array{gate::off, gate::untainted, gate::guarded, gate::on}) {
    if (name_of(value) == name) return value;
  }
  return std::nullopt;
}

/// In the order of what they let through.
enum class decision : std::uint8_t { deny, ask, allow };

[[nodiscard]] constexpr std::string_view name_of(decision value) noexcept {
  switch (value) {
    case decision::deny:
      return "deny";
    case decision::ask:
      return "ask";
    case decision::allow:
      return "allow";
  }
  return "deny";
}

namespace detail {

/// One line of the table: what is answered at a gate in a mode, by what was taken in.
struct network_row {
  gate open;
  mode present;
  /// By `taint::index()`: no label, untrusted content, private data, both.
  std::array<decision, taint::count> answers;
};

/// Every gate in every mode; the rows stand in the order of the two enumerations.
// clang-format off
inline constexpr std::array<network_row, 12> network_table = [] {
  constexpr auto no = decision::deny;
  constexpr auto as = decision::ask;
  constexpr auto go = decision::allow;
  return std::array<network_row, 12>{{
    //                                   none untrusted private both
    {gate::off,       mode::plan,       {{no, no, no, no}}},
    {gate::off,       mode::ask,        {{no, no, no, no}}},
    {gate::off,       mode::autonomous, {{no, no, no, no}}},
    {gate::untainted, mode::plan,       {{go, no, no, no}}},
    {gate::untainted, mode::ask,        {{go, as, as, as}}},
    {gate::untainted, mode::autonomous, {{go, no, no, no}}},
    {gate::guarded,   mode::plan,       {{go, go, go, no}}},
    {gate::guarded,   mode::ask,        {{go, go, go, as}}},
    {gate::guarded,   mode::autonomous, {{go, go, go, no}}},
    {gate::on,        mode::plan,       {{go, go, go, go}}},
    {gate::on,        mode::ask,        {{go, go, go, go}}},
    {gate::on,        mode::autonomous, {{go, go, go, go}}},
  }};
}();
// clang-format on

}  // namespace detail

/// The answer for one call. A value from outside an enumeration is denied.
[[nodiscard]] constexpr decision decide_network(gate open, mode present, taint labels) noexcept {
  for (const auto& row : detail::network_table) {
    if (row.open == open && row.present == present) return row.answers[labels.index()];
  }
  return decision::deny;
}

/// The plain answer that a backend gets: `ask` counts as no until a person has answered.
[[nodiscard]] constexpr bool network_allowed(gate open, mode present, taint labels) noexcept {
  return decide_network(open, present, labels) == decision::allow;
}

}  // namespace pinfold
