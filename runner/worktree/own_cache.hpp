// A worktree's own cache (sandbox/caches.hpp) goes with the worktree: it is named after the directory,
// so nobody can use it again.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace pinfold {

/// Where the caches of the caller's workspaces lie; empty for a caller who has none, or where that
/// cannot be told.
[[nodiscard]] std::string cache_root_of(const std::vector<std::string>& environment);

/// The name of the cache of the open working tree; empty where it has none.
[[nodiscard]] std::string cache_name_in(const std::string& root, int tree);

/// Removes the cache of that name; one that is not there, or an empty name, is no error. Otherwise a
/// sentence that says where it lies still and why.
[[nodiscard]] std::optional<std::string> remove_cache(const std::string& root,
                                                      const std::string& name);

}  // namespace pinfold
