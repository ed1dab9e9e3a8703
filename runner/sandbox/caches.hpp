// Caches on the disk: where a workspace's own lie and what they are called, and which of the user's
// can be shared. Nothing that a command left in a cache may decide where a later one is bound from.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/caches.hpp>
#include <pinfold/refusal.hpp>
#include <pinfold/sandbox/confinement.hpp>

#include "host/owned_way.hpp"
#include "sandbox/caller.hpp"

namespace pinfold {

/// A cache that is to be bound. Device and inode are those of the source when it was looked at; 0
/// where it is not there yet.
struct cache_place {
  std::string source;
  std::string target;
  cache_owner owner{cache_owner::workspace};
  root_access listed{root_access::write};
  std::uint64_t device{0};
  std::uint64_t inode{0};
};

/// The directory that holds the caches of all workspaces of this caller, there or not:
/// $XDG_CACHE_HOME/pinfold, by default ~/.cache/pinfold; canonical. Nothing for a caller without a
/// home. Errors: those of the resolver.
[[nodiscard]] std::expected<std::optional<std::string>, refusal> cache_root_of(const caller& who);

/// The name under which the caches of the workspace, held open as `directory`, lie in that
/// directory: its file system, its inode and the time of its birth. It goes with the directory
/// wherever it is moved, and no other directory that comes to its path has it. Nothing where the
/// file system does not tell a time of birth (statx(2)): inodes alone are used again.
[[nodiscard]] std::optional<std::string> cache_name_of(int directory);

/// The workspace's own caches, `home` being the sandbox's. Refuses (`permission_denied`) when a
/// directory on the way is not the caller's alone, or is a link.
[[nodiscard]] std::expected<std::vector<cache_place>, refusal> own_caches(const std::string& root,
                                                                          const std::string& name,
                                                                          std::string_view home,
                                                                          missing_part missing);

/// What of the user's caches is there, `home` being the sandbox's. Errors: `invalid_argument` for
/// one that leads to something that is never shared, to a home, or into another one;
/// `permission_denied` as for `open_owned_way`.
[[nodiscard]] std::expected<std::vector<cache_place>, refusal> users_caches(
    const caller& who, const std::vector<hidden_path>& hidden, std::string_view home);

/// Refuses (`invalid_argument`) a place that holds, or lies in, what one of the caches is bound
/// from or bound to.
[[nodiscard]] std::expected<void, refusal> check_apart(const std::string& place,
                                                       const std::vector<cache_place>& caches);

}  // namespace pinfold
