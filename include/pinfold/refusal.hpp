// The refusal: a value that says what was refused, where it led, which boundary stands there and
// what to do instead, so that a model can act on it inside its turn. It is never an exception.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <pinfold/error.hpp>

namespace pinfold {

/// What a call wants to do.
enum class operation : std::uint8_t {
  read,
  write,
  make_directory,
  list,
  remove,
  rename,
  execute,
  connect,
};

/// The name of an operation on the wire.
[[nodiscard]] constexpr std::string_view name_of(operation value) noexcept {
  switch (value) {
    case operation::read:
      return "read";
    case operation::write:
      return "write";
    case operation::make_directory:
      return "mkdir";
    case operation::list:
      return "list";
    case operation::remove:
      return "remove";
    case operation::rename:
      return "rename";
    case operation::execute:
      return "execute";
    case operation::connect:
      return "connect";
  }
  return "read";
}

/// What would help whoever was refused.
enum class remedy : std::uint8_t {
  use_path_inside,    ///< another path, inside the workspace
  needs_wider_grant,  ///< only whoever runs the harness can widen the grant
  correct_the_call,   ///< the call itself is malformed
  look_again,         ///< the file system holds something else than expected
  prepare_the_host,   ///< the machine lacks something; the message names it
  ask_a_person,       ///< a person can approve this one call
};

[[nodiscard]] constexpr std::string_view name_of(remedy value) noexcept {
  switch (value) {
    case remedy::use_path_inside:
      return "use_path_inside";
    case remedy::needs_wider_grant:
      return "needs_wider_grant";
    case remedy::correct_the_call:
      return "correct_the_call";
    case remedy::look_again:
      return "look_again";
    case remedy::prepare_the_host:
      return "prepare_the_host";
    case remedy::ask_a_person:
      return "ask_a_person";
  }
  return "look_again";
}

/// The remedy that goes with a code.
[[nodiscard]] constexpr remedy remedy_for(code value) noexcept {
  switch (value) {
    case code::outside_workspace:
      return remedy::use_path_inside;
    case code::harness_state:
    case code::host_run_file:
    case code::read_only_root:
      return remedy::use_path_inside;
    case code::invalid_path:
    case code::name_too_long:
    case code::magic_link:
    case code::invalid_host:
    case code::invalid_egress_entry:
    case code::invalid_request:
    case code::unknown_backend:
    case code::invalid_argument:
      return remedy::correct_the_call;
    case code::not_found:
    case code::not_a_directory:
    case code::is_a_directory:
    case code::already_exists:
    case code::not_empty:
    case code::symlink_loop:
    case code::special_file:
    case code::hard_linked_file:
    case code::permission_denied:
    case code::try_again:
    case code::input_output_error:
    case code::command_not_found:
    case code::command_not_executable:
    case code::host_unreachable:
    case code::no_repository:
      return remedy::look_again;
    case code::mode_forbids_writing:
    case code::unconfined_forbidden:
    case code::network_denied:
    case code::address_denied:
    case code::tls_name_denied:
    case code::egress_limit:
    case code::workspace_too_broad:
      return remedy::needs_wider_grant;
    case code::needs_approval:
      return remedy::ask_a_person;
    case code::workspace_gone:
    case code::resource_exhausted:
    case code::sandbox_unavailable:
    case code::not_enforceable:
    case code::workspace_not_writable:
    case code::carve_out_unusable:
    case code::gitdir_outside:
    case code::boundary_lost:
    case code::run_lost:
    case code::git_failed:
      return remedy::prepare_the_host;
  }
  return remedy::look_again;
}

/// The sentence for a code: what is the case and what to do about it. Needs no disk, no allocation.
[[nodiscard]] constexpr std::string_view sentence_for(code value) noexcept {
  switch (value) {
    case code::outside_workspace:
      return "it leads outside the workspace; use a path inside it, or say that the task needs a "
             "wider grant";
    case code::harness_state:
      return "it belongs to the harness and is not available to tools; leave it alone";
    case code::host_run_file:
      return "a program on the host runs or obeys it later, so it is read-only; leave it as it is";
    case code::read_only_root:
      return "it lies in a directory that was granted for reading only";
    case code::invalid_path:
      return "it is not a usable path (empty, with a NUL byte, or a file "
             "name that ends in '/'); correct it";
    case code::name_too_long:
      return "a name is over 255 bytes or the path over 4095; shorten it";
    case code::not_found:
      return "there is nothing of that name; list the directory above it";
    case code::not_a_directory:
      return "a file stands where a directory is needed";
    case code::is_a_directory:
      return "it is a directory, not a file";
    case code::already_exists:
      return "something of that name is there already";
    case code::not_empty:
      return "the directory is not empty";
    case code::symlink_loop:
      return "it follows more than 40 symbolic links";
    case code::magic_link:
      return "it goes through a process's own link in /proc, which names no fixed place; use the "
             "plain path";
    case code::special_file:
      return "it is a FIFO, socket or device; only files and directories "
             "are opened";
    case code::hard_linked_file:
      return "the file has another name elsewhere (a hard link), so a write would change both; "
             "replace the file instead";
    case code::permission_denied:
      return "the file system's permissions do not allow it";
    case code::workspace_gone:
      return "the workspace was removed or replaced; open it again";
    case code::resource_exhausted:
      return "the process has no descriptor or memory left; free some and try again";
    case code::try_again:
      return "the directory tree kept changing during the call; try again";
    case code::input_output_error:
      return "the file system reported an error";
    case code::mode_forbids_writing:
      return "nothing may be written in plan mode";
    case code::needs_approval:
      return "a person has to approve it first";
    case code::unconfined_forbidden:
      return "nobody is there to approve a command that no sandbox confines";
    case code::network_denied:
      return "the network is closed for this call";
    case code::invalid_host:
      return "that is not a host name or a port";
    case code::invalid_egress_entry:
      return "that is not a host:port entry";
    case code::address_denied:
      return "it leads to no public address; one of this machine or its network has to be on the "
             "egress list as an address";
    case code::tls_name_denied:
      return "a tunnel has to open with a TLS hello that names the host it leads to";
    case code::invalid_request:
      return "the proxy does not take such a request; send one of a kind it takes";
    case code::host_unreachable:
      return "it is on the egress list, but no connection to it could be made";
    case code::egress_limit:
      return "a limit of the egress is met; use fewer connections or send less";
    case code::sandbox_unavailable:
      return "the sandbox cannot be made here, so nothing was run";
    case code::not_enforceable:
      return "this backend cannot enforce it, so nothing was run";
    case code::unknown_backend:
      return "there is no backend of that name";
    case code::workspace_too_broad:
      return "that is too much of the machine for one workspace; choose a project folder";
    case code::workspace_not_writable:
      return "the command could not write there once its privileges are dropped; run as the owner "
             "of the folder or change its owner";
    case code::carve_out_unusable:
      return "a carve-out must be a plain file or directory; replace the link by what it names";
    case code::gitdir_outside:
      return "the file .git leads to a repository outside that does not name this folder as its "
             "own; see where it leads, then mend it (git worktree repair) or remove it";
    case code::boundary_lost:
      return "a carve-out was replaced from outside during the run";
    case code::run_lost:
      return "the run was ended from outside before it could report";
    case code::command_not_found:
      return "there is no such command inside the sandbox";
    case code::command_not_executable:
      return "the command is there but cannot be executed";
    case code::no_repository:
      return "a worktree is cut from a commit of a git repository that has a work tree; there is "
             "none here";
    case code::git_failed:
      return "git, as the runner starts it, did not do its part";
    case code::invalid_argument:
      return "the argument cannot be used";
  }
  return "it was refused";
}

/// Appends `text` in double quotes. Control bytes, quotes and backslashes are escaped (`\n`,
/// `\x1b`, `\"`), so that a path can neither end the line nor close its quotes; other bytes stand
/// as they are.
constexpr void append_quoted(std::string& out, std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  out += '"';
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (c == '\n' || c == '\r' || c == '\t') {
      out += {'\\', c == '\n' ? 'n' : c == '\r' ? 'r' : 't'};
    } else if (byte < 0x20 || byte == 0x7f) {
      out += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
    } else {
      out += c;
    }
  }
  out += '"';
}

/// A refusal that owns its text.
struct refusal {
  code error{code::invalid_argument};
  operation op{operation::read};
  std::string path;      ///< as it was asked for, byte for byte
  std::string resolved;  ///< where it led: a canonical path, never past the first component outside
  std::string boundary;  ///< what stands there: the workspace, the carve-out, or what was refused
  std::string detail;    ///< a further fact for a person, or empty

  /// What would help, as a field that a program can act on.
  [[nodiscard]] constexpr remedy help() const noexcept { return remedy_for(error); }

  /// One sentence: operation, path, where it led, the boundary, what to do.
  [[nodiscard]] constexpr std::string message() const {
    std::string text = "refusing to ";
    text += name_of(op);
    text += ' ';
    append_quoted(text, path);
    text += ": ";
    text += sentence_for(error);
    if (!resolved.empty() && resolved != path) {
      text += "; it resolved to ";
      append_quoted(text, resolved);
    }
    if (!boundary.empty() && boundary != path) {
      text += "; the boundary is ";
      append_quoted(text, boundary);
    }
    if (!detail.empty()) text += "; " + detail;
    return text;
  }

  friend bool operator==(const refusal&, const refusal&) = default;
};

}  // namespace pinfold
