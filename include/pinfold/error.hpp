// The closed set of reasons for which pinfold says no, and their names on the wire.
// It must never hold text that depends on a call: a sentence is made in refusal.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pinfold {

/// Why something was refused. The names on the wire (`name_of`) are part of the interface: a code
/// may be added, none is ever renamed.
enum class code : std::uint8_t {
  // where a path leads
  outside_workspace,
  harness_state,
  host_run_file,
  read_only_root,
  // what the spelling of a path is
  invalid_path,
  name_too_long,
  // what the file system holds or says
  not_found,
  not_a_directory,
  is_a_directory,
  already_exists,
  not_empty,
  symlink_loop,
  magic_link,
  special_file,
  hard_linked_file,
  permission_denied,
  workspace_gone,
  resource_exhausted,
  try_again,
  input_output_error,
  // what the guard answers
  mode_forbids_writing,
  needs_approval,
  unconfined_forbidden,
  network_denied,
  invalid_host,
  invalid_egress_entry,
  // what the egress proxy answers
  address_denied,
  tls_name_denied,
  invalid_request,
  host_unreachable,
  egress_limit,
  // what a backend or the runner answers
  sandbox_unavailable,
  not_enforceable,
  unknown_backend,
  workspace_too_broad,
  workspace_not_writable,
  carve_out_unusable,
  gitdir_outside,
  boundary_lost,
  run_lost,
  command_not_found,
  command_not_executable,
  // what worktrees and git answer
  no_repository,
  git_failed,
  invalid_argument,
};

inline constexpr code last_code = code::invalid_argument;

/// The stable PascalCase name of a code: what JSON carries in `error`.
[[nodiscard]] constexpr std::string_view name_of(code value) noexcept {
  switch (value) {
    case code::outside_workspace:
      return "OutsideWorkspace";
    case code::harness_state:
      return "HarnessState";
    case code::host_run_file:
      return "HostRunFile";
    case code::read_only_root:
      return "ReadOnlyRoot";
    case code::invalid_path:
      return "InvalidPath";
    case code::name_too_long:
      return "NameTooLong";
    case code::not_found:
      return "NotFound";
    case code::not_a_directory:
      return "NotADirectory";
    case code::is_a_directory:
      return "IsADirectory";
    case code::already_exists:
      return "AlreadyExists";
    case code::not_empty:
      return "NotEmpty";
    case code::symlink_loop:
      return "SymlinkLoop";
    case code::magic_link:
      return "MagicLink";
    case code::special_file:
      return "SpecialFile";
    case code::hard_linked_file:
      return "HardLinkedFile";
    case code::permission_denied:
      return "PermissionDenied";
    case code::workspace_gone:
      return "WorkspaceGone";
    case code::resource_exhausted:
      return "ResourceExhausted";
    case code::try_again:
      return "TryAgain";
    case code::input_output_error:
      return "InputOutputError";
    case code::mode_forbids_writing:
      return "ModeForbidsWriting";
    case code::needs_approval:
      return "NeedsApproval";
    case code::unconfined_forbidden:
      return "UnconfinedForbidden";
    case code::network_denied:
      return "NetworkDenied";
    case code::invalid_host:
      return "InvalidHost";
    case code::invalid_egress_entry:
      return "InvalidEgressEntry";
    case code::address_denied:
      return "AddressDenied";
    case code::tls_name_denied:
      return "TlsNameDenied";
    case code::invalid_request:
      return "InvalidRequest";
    case code::host_unreachable:
      return "HostUnreachable";
    case code::egress_limit:
      return "EgressLimit";
    case code::sandbox_unavailable:
      return "SandboxUnavailable";
    case code::not_enforceable:
      return "NotEnforceable";
    case code::unknown_backend:
      return "UnknownBackend";
    case code::workspace_too_broad:
      return "WorkspaceTooBroad";
    case code::workspace_not_writable:
      return "WorkspaceNotWritable";
    case code::carve_out_unusable:
      return "CarveOutUnusable";
    case code::gitdir_outside:
      return "GitdirOutside";
    case code::boundary_lost:
      return "BoundaryLost";
    case code::run_lost:
      return "RunLost";
    case code::command_not_found:
      return "CommandNotFound";
    case code::command_not_executable:
      return "CommandNotExecutable";
    case code::no_repository:
      return "NoRepository";
    case code::git_failed:
      return "GitFailed";
    case code::invalid_argument:
      return "InvalidArgument";
  }
  return "Unknown";  // only a value cast from outside the enumeration gets here
}

/// The code with this name on the wire, or nothing.
[[nodiscard]] constexpr std::optional<code> parse_code(std::string_view name) noexcept {
  for (unsigned i = 0; i <= static_cast<unsigned>(last_code); ++i) {
    if (name_of(static_cast<code>(i)) == name) return static_cast<code>(i);
  }
  return std::nullopt;
}

}  // namespace pinfold
