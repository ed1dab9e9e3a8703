// What a path alone says of a file that a tool has put there: the walk's names without the walk.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <pinfold/runner/host_run.hpp>

namespace pinfold {

/// What was put there: `anything` may be a directory with all that is in it.
enum class put_there : std::uint8_t { file, anything };

/// What a program of the host may take the file at `path` for, by the names of `names.hpp`; `path` is
/// relative to the workspace. Nothing where it is none of these. A repository that is not called ".git" is
/// not known by its path, nor hooks in a place that only git's configuration names.
[[nodiscard]] std::optional<host_run_kind> kind_by_path(std::string_view path, put_there what);

}  // namespace pinfold
