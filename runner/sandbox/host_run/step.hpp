// Where the walk goes: one directory after another, each opened from the workspace down.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/host_run.hpp"
#include "sandbox/host_run/names.hpp"

namespace pinfold {

struct to_visit {
  std::string path;  ///< relative; empty for the workspace
  room kind;
  bool has_arrived{false};  ///< it, or one above it, was not here at the start: all in it is new
  bool has_users_names{
      false};  ///< below "refs" or "logs": a branch may be called "hooks" or "config"
};

[[nodiscard]] std::string below(const std::string& directory, std::string_view name);

/// Whether the run began with a repository there: each has such a carve-out. It is no news, and what
/// lies in it is git's.
[[nodiscard]] bool is_known_repository(const host_run_search& search, const std::string& path);

/// What `path` ends with.
[[nodiscard]] std::string_view last_name(std::string_view path) noexcept;

/// The directory `name` in `at`, when the walk goes there. `is_repository`: `at` is one of git's, by
/// what lies in it.
[[nodiscard]] std::optional<to_visit> entered(const host_run_search& search, const to_visit& at,
                                              bool is_repository, std::string_view name);

/// Whether the walk comes to no end of `path`, since an ignored directory lies above it.
[[nodiscard]] bool is_passed_over(const host_run_search& search, std::string_view path);

/// Where the walk begins: at the workspace, and where git goes though an ignored directory is above.
[[nodiscard]] std::vector<to_visit> beginnings(const host_run_search& search);

/// Opens what lies below the workspace, through no link and over no mount. A negative errno, when
/// nothing was opened.
[[nodiscard]] int open_in(int top, const std::string& path, int flags);

[[nodiscard]] listing_choice choice_for(const host_run_search& search, room kind, std::size_t most);

/// What an index has under ignored directories.
struct hidden_gitlinks {
  std::vector<std::string> paths;
  bool is_whole{true};  ///< false: the index is there and could not be read to its end
};

/// The index of a repository's directory in the walk, when it is one: ".git" in its work tree.
[[nodiscard]] std::optional<git_index_place> index_of(const to_visit& at);

/// Whether that index was read ahead and is as it was.
[[nodiscard]] bool is_known_index(const host_run_search& search, int top,
                                  const git_index_place& place);

[[nodiscard]] hidden_gitlinks hidden_gitlinks_of(const host_run_search& search, int top,
                                                 const git_index_place& place);

/// Walks the workspace once.
[[nodiscard]] host_run_report walk_all(const host_run_search& search, int directory);

}  // namespace pinfold
