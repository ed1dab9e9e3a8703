// Floor 0: every code has a name of its own, and the names are what they always were.
#include <pinfold/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "support/catch.hpp"

using namespace pinfold;

namespace {

constexpr std::size_t code_count = static_cast<std::size_t>(last_code) + 1;

consteval std::array<code, code_count> make_all_codes() {
  std::array<code, code_count> all{};
  for (std::size_t i = 0; i < code_count; ++i) all[i] = static_cast<code>(i);
  return all;
}
constexpr auto all_codes = make_all_codes();

/// The names on the wire, written out a second time. A new code gets a row; a row that changes or
/// goes breaks whoever reads the JSON.
constexpr std::array<std::string_view, code_count> names_on_the_wire{
    "OutsideWorkspace",
    "HarnessState",
    "HostRunFile",
    "ReadOnlyRoot",
    "InvalidPath",
    "NameTooLong",
    "NotFound",
    "NotADirectory",
    "IsADirectory",
    "AlreadyExists",
    "NotEmpty",
    "SymlinkLoop",
    "MagicLink",
    "SpecialFile",
    "HardLinkedFile",
    "PermissionDenied",
    "WorkspaceGone",
    "ResourceExhausted",
    "TryAgain",
    "InputOutputError",
    "ModeForbidsWriting",
    "NeedsApproval",
    "UnconfinedForbidden",
    "NetworkDenied",
    "InvalidHost",
    "InvalidEgressEntry",
    "AddressDenied",
    "TlsNameDenied",
    "InvalidRequest",
    "HostUnreachable",
    "EgressLimit",
    "SandboxUnavailable",
    "NotEnforceable",
    "UnknownBackend",
    "WorkspaceTooBroad",
    "WorkspaceNotWritable",
    "CarveOutUnusable",
    "GitdirOutside",
    "BoundaryLost",
    "RunLost",
    "CommandNotFound",
    "CommandNotExecutable",
    "NoRepository",
    "GitFailed",
    "InvalidArgument",
};

constexpr bool is_pascal_case(std::string_view name) {
  if (name.empty() || name.front() < 'A' || name.front() > 'Z') return false;
  for (char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter) return false;
  }
  return true;
}

constexpr bool names_are_unique() {
  for (auto a : all_codes) {
    for (auto b : all_codes) {
      if (a != b && name_of(a) == name_of(b)) return false;
    }
  }
  return true;
}

constexpr bool names_lead_back() {
  for (auto value : all_codes) {
    if (parse_code(name_of(value)) != value) return false;
  }
  return true;
}

constexpr bool every_code_is_named() {
  for (auto value : all_codes) {
    if (name_of(value) == "Unknown" || !is_pascal_case(name_of(value))) return false;
  }
  return true;
}

}  // namespace

static_assert(names_are_unique());
static_assert(names_lead_back());
static_assert(every_code_is_named());
static_assert(name_of(static_cast<code>(code_count)) == "Unknown",
              "last_code is the last one: the value after it has no name");

TEST_CASE("the_name_of_a_code_never_changes") {
  for (auto name : names_on_the_wire) {
    INFO(name);
    CHECK(parse_code(name).has_value());
  }
  for (auto value : all_codes) {
    INFO(name_of(value) << " has to be listed here");
    CHECK(std::ranges::find(names_on_the_wire, name_of(value)) != names_on_the_wire.end());
  }
}

TEST_CASE("every_code_has_a_name_of_its_own_that_leads_back_to_it") {
  CHECK(every_code_is_named());
  CHECK(names_are_unique());
  for (auto value : all_codes) {
    INFO(name_of(value));
    CHECK(parse_code(std::string{name_of(value)}) == value);
  }
}

TEST_CASE("a_name_that_is_no_code_is_nothing") {
  for (auto name : {"", "Unknown", "outsideworkspace", "OUTSIDEWORKSPACE", "OutsideWorkspace ",
                    "OutsideWorkspac", "OutsideWorkspaceX"}) {
    INFO(name);
    CHECK_FALSE(parse_code(name).has_value());
  }
}
