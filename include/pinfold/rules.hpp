// The guard's table: region x operation x mode, written out once. It is data; the guard reads it,
// and tests walk it. Nothing but this table says what is asked about.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <pinfold/grant.hpp>
#include <pinfold/refusal.hpp>
#include <pinfold/settings.hpp>

namespace pinfold {

namespace detail {

/// A field of the guard's table.
enum class rule : std::uint8_t {
  refuse,
  ask,
  allow,
  root,     ///< allow where the extra root was granted for writing
  kernel,   ///< allow where a sandbox holds the command
  network,  ///< allow, ask or refuse as the network decision and the egress list say
};

/// One line of the table: what is answered to an operation in a mode, by where it leads.
struct guard_row {
  operation op;
  mode present;
  /// By region: workspace, harness state, host-run files, extra root, outside.
  std::array<rule, 5> rules;
};

/// Region x operation x mode, in the order of the enumerations. A command's region is that of the
/// directory in which it starts. A connection has no region: all five columns say the same.
// clang-format off
inline constexpr std::array<guard_row, 24> guard_table = [] {
  constexpr auto no__ = rule::refuse;
  constexpr auto ask_ = rule::ask;
  constexpr auto yes_ = rule::allow;
  constexpr auto root = rule::root;
  constexpr auto kern = rule::kernel;
  constexpr auto net_ = rule::network;
  return std::array<guard_row, 24>{{
    //                                           workspace state host_run root outside
    {operation::read,           mode::plan,       {{yes_, no__, yes_, yes_, no__}}},
    {operation::read,           mode::ask,        {{yes_, no__, yes_, yes_, ask_}}},
    {operation::read,           mode::autonomous, {{yes_, no__, yes_, yes_, no__}}},
    {operation::write,          mode::plan,       {{no__, no__, no__, no__, no__}}},
    {operation::write,          mode::ask,        {{yes_, no__, no__, root, ask_}}},
    {operation::write,          mode::autonomous, {{yes_, no__, no__, root, no__}}},
    {operation::make_directory, mode::plan,       {{no__, no__, no__, no__, no__}}},
    {operation::make_directory, mode::ask,        {{yes_, no__, no__, root, ask_}}},
    {operation::make_directory, mode::autonomous, {{yes_, no__, no__, root, no__}}},
    {operation::list,           mode::plan,       {{yes_, no__, yes_, yes_, no__}}},
    {operation::list,           mode::ask,        {{yes_, no__, yes_, yes_, ask_}}},
    {operation::list,           mode::autonomous, {{yes_, no__, yes_, yes_, no__}}},
    {operation::remove,         mode::plan,       {{no__, no__, no__, no__, no__}}},
    {operation::remove,         mode::ask,        {{yes_, no__, no__, root, ask_}}},
    {operation::remove,         mode::autonomous, {{yes_, no__, no__, root, no__}}},
    {operation::rename,         mode::plan,       {{no__, no__, no__, no__, no__}}},
    {operation::rename,         mode::ask,        {{yes_, no__, no__, root, ask_}}},
    {operation::rename,         mode::autonomous, {{yes_, no__, no__, root, no__}}},
    {operation::execute,        mode::plan,       {{kern, no__, kern, kern, no__}}},
    {operation::execute,        mode::ask,        {{kern, no__, kern, kern, no__}}},
    {operation::execute,        mode::autonomous, {{kern, no__, kern, kern, no__}}},
    {operation::connect,        mode::plan,       {{net_, net_, net_, net_, net_}}},
    {operation::connect,        mode::ask,        {{net_, net_, net_, net_, net_}}},
    {operation::connect,        mode::autonomous, {{net_, net_, net_, net_, net_}}},
  }};
}();
// clang-format on

/// The rule for one case. A value from outside an enumeration is refused.
[[nodiscard]] constexpr rule rule_for(operation op, mode present, region where) noexcept {
  const auto row = static_cast<std::size_t>(op) * 3 + static_cast<std::size_t>(present);
  const auto column = static_cast<std::size_t>(where);
  if (row >= guard_table.size() || column >= 5) return rule::refuse;
  const auto& found = guard_table[row];
  return found.op == op && found.present == present ? found.rules[column] : rule::refuse;
}

/// True for what changes the entry of its path in the directory above: with it goes all that lies
/// below the path. Making a directory does not: where one stands, it fails.
[[nodiscard]] constexpr bool replaces_its_path(operation op) noexcept {
  return op == operation::write || op == operation::remove || op == operation::rename;
}

}  // namespace detail

}  // namespace pinfold
