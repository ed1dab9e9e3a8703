// The walk that finds what a host program may run, obey or write through later. It looks; it opens
// no file but a configuration or attributes, follows no link, crosses no mount and runs nothing.
#pragma once

#include <time.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <pinfold/runner/host_run.hpp>

#include "sandbox/git_state.hpp"
#include "sandbox/host_run/listing.hpp"
#include "sandbox/host_run/watched.hpp"

namespace pinfold {

/// Whether the command could give a file its set-user-ID or set-group-ID bit. Where it could not, an
/// ordinary file whose name counts for nothing need not be asked for its mode and times: a checkout
/// of 2,000 files is walked by the names of its directories alone. (One that had such a bit before
/// and was only given another name is then no find.)
enum class set_id_files : std::uint8_t { possible, barred };

/// Looked at before the run, since the command may change it.
struct host_run_search {
  static constexpr std::size_t default_budget = 20'000;

  // All paths but the workspace are relative to it.
  std::string workspace;             ///< canonical
  timespec since{};                  ///< of the clock that file times come from
  std::vector<std::string> ignored;  ///< names of directories; sorted
  std::unordered_set<std::string> carved;  ///< in place: nothing in them can have changed
  std::vector<std::string> hooks_paths;    ///< where git takes hooks from, there or not
  std::vector<watched_file> obeyed;        ///< files that git on the host runs or obeys
  std::vector<git_index_place> indexes;    ///< whose repositories are looked at, ignored or not
  std::unordered_set<std::string> gitlinks;  ///< of `list_ahead`, and the indexes that it read
  set_id_files set_id{set_id_files::possible};
  std::size_t budget{default_budget};

  /// How many entries are listed ahead at most: while bwrap makes the boundary there is nothing else
  /// to do, for about as long as that takes.
  static constexpr std::size_t ahead_budget = 5'000;
  std::unordered_map<std::string, listed_directory> ahead;  ///< by path, from `list_ahead`
};

/// The names of directories that a .gitignore names plainly: one component, no pattern, with or
/// without slashes at its ends. A text that takes anything back ("!") gives none. Names that are
/// looked for (".git", ".vscode", ...) are never among them.
[[nodiscard]] std::vector<std::string> ignored_directories(std::string_view gitignore);

/// `directory` is the workspace, open. Reads its .gitignore and the clock.
[[nodiscard]] host_run_search begin_host_run_search(std::string workspace, int directory);

/// Lists directories between `begin_host_run_search` and the command's start, for the walk after it:
/// one that still has its change time then need not be listed again. It saves time, and only where no
/// file can get a set-ID bit. Reads which repositories git's index has, too: one below an ignored
/// directory that comes to it later is news with all that is in it; without this they all are.
void list_ahead(host_run_search& search, int directory);

/// Walks the workspace once, below the open `directory`.
[[nodiscard]] host_run_report look_for_host_run(const host_run_search& search, int directory);

}  // namespace pinfold
