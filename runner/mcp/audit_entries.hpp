// The entries of the audit log, one JSON object each: README, "The audit log", documents the format.
// Bounded whatever a call held: no output, no content of a file, no text of more than `longest_text`.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/network.hpp>
#include <pinfold/settings.hpp>
#include <pinfold/taint.hpp>

#include "json/json.hpp"
#include "mcp/tool.hpp"

namespace pinfold::mcp {

/// A text of more bytes is cut there, and `NAME_bytes` says how many it had.
inline constexpr std::size_t longest_text = 8 * 1024;
/// So many bytes of JSON of each list are written; the others are counted.
inline constexpr std::size_t longest_list = 128 * 1024;

/// What the first entry of a session says.
struct audit_opening {
  std::string workspace{};  ///< canonical
  mode present{mode::autonomous};
  gate open{gate::off};
  taint labels{};
  std::vector<std::string> egress{};  ///< the list in force, or none
  enforcement boundary{enforcement::enforced};
};

/// What every entry begins with: `event`, `session`, `at` (UTC, to the millisecond).
[[nodiscard]] json audit_entry(std::string_view event, std::string_view session,
                               std::chrono::system_clock::time_point at);

/// To an entry `session`: `format`, `program`, `pid`, `workspace`, `mode`, `gate`, `taint`, `network`,
/// `egress_list`, `commands`.
void put_opening(json& entry, const audit_opening& facts);

/// To an entry `begins`: `call`, `tool`, `arguments`, `taint`, `network`.
void put_begun(json& entry, const call_begun& call, decision network);

/// To an entry `ended`: `call`, `tool`, `how`, `duration_ms`, `effects`, `more_effects`, `questions`,
/// `more_questions`, `refusal`, `taint`, `record`.
void put_ended(json& entry, const call_ended& call);

/// To an entry `taint`: `call`, `added`, `taint`, `network_before`, `network`.
void put_taint(json& entry, std::uint64_t call, taint before, taint after,
               decision network_before, decision network);

}  // namespace pinfold::mcp
