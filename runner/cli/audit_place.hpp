// Where an audit log may lie, and how it is opened: nothing that a command or a tool of the session can
// write to may reach it, by any name.
#pragma once

#include <expected>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/refusal.hpp>
#include <pinfold/runner/request.hpp>

#include "mcp/audit_log.hpp"
#include "mcp/session.hpp"
#include "sandbox/caller.hpp"

namespace pinfold {

/// The directories that a session's tools and commands can write to: the workspace (canonical), and the
/// places of the caches, of the workspace's own and, where they are shared, of the caller's. Errors:
/// those of `cache_root_of`.
[[nodiscard]] std::expected<std::vector<std::string>, refusal> writable_places(
    const std::string& workspace, cache_choice caches, const caller& who);

/// Opens the log for reading and appending; a new one has mode 0600. Links on the way to its directory are
/// followed once, and what they led to is what is held to the rules. Directories that are missing are made
/// with mode 0700, where all that is there on the way may be trusted. Errors: `invalid_argument` where it
/// lies in one of the `writable` directories, by whatever name, or is a link, no plain file, or has a
/// second name; `permission_denied` where others may read or write it or its directory, or somebody else
/// could put another in its place, and where a directory cannot be made; `not_found` for a name that goes
/// back (`..`) from a directory that is not there. Each names the option.
[[nodiscard]] std::expected<descriptor, refusal> open_audit_file(
    const std::string& path, std::span<const std::string> writable);

/// The log of this session, begun. Errors: those of the above and of `audit_log::begin`.
[[nodiscard]] std::expected<std::unique_ptr<mcp::audit_log>, refusal> begin_audit_log(
    const std::string& path, const mcp::session& now, const caller& who);

}  // namespace pinfold
