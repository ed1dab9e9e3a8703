// A directory removed with all that is in it. No link is followed and no other mount is entered;
// what cannot be removed whole is found before the first name goes.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <pinfold/disk/open.hpp>
#include <pinfold/error.hpp>

namespace pinfold::mcp {

/// How a removal went.
struct removal {
  std::uint64_t names{0};       ///< gone, the directory's own included
  std::optional<code> error{};  ///< what stopped it
  std::string detail{};         ///< a sentence for that
};

/// Removes `name` in `directory`, which is a directory itself, and all below it. Looks at all of it
/// first: `not_enforceable` where a mount lies in it, `resource_exhausted` below `most_levels`
/// directories, `permission_denied` where one cannot be read; nothing is removed then. When
/// `is_cancelled`, what is gone stays gone.
[[nodiscard]] removal remove_tree_at(beneath::lookup names, int directory, const std::string& name,
                                     const std::function<bool()>& is_cancelled);

inline constexpr std::size_t most_levels = 200;

}  // namespace pinfold::mcp
