// The shell that a command without a boundary is handed to. It is never found in $PATH: what stands first
// there need not be the host's.
#pragma once

#include <array>
#include <expected>
#include <span>
#include <string>
#include <string_view>

#include <pinfold/refusal.hpp>

namespace pinfold {

/// Where bash is looked for, in this order; the first that is there is judged.
inline constexpr std::array<std::string_view, 3> bash_places{"/usr/bin/bash", "/bin/bash",
                                                             "/usr/local/bin/bash"};

/// The canonical path of a bash that is root's alone, as all directories above it are (program.hpp).
/// Errors: `not_found`; `permission_denied` for one that somebody else could have put there.
[[nodiscard]] std::expected<std::string, refusal> host_bash(
    std::span<const std::string_view> places = bash_places);

}  // namespace pinfold
