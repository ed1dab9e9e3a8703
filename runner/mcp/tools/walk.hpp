// All that lies below a directory, one entry after the other: through no link, into no harness state,
// bounded in depth, entries and time, in the memory of one open directory for each level.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <pinfold/disk/open.hpp>

#include "mcp/tools/acting.hpp"
#include "mcp/tools/entries.hpp"
#include "mcp/tools/tools.hpp"

namespace pinfold::mcp {

/// What ended a walk.
enum class walk_end : std::uint8_t {
  all_seen,
  enough,   ///< who was told of the entries wanted no more
  entries,  ///< the bound on entries
  time,     ///< the bound on time
  cancelled,
};

/// What was passed over, by reason.
struct passed_over {
  std::uint64_t closed{0};       ///< harness state, or what the guard does not allow
  std::uint64_t unreadable{0};   ///< could not be opened, or changed at that moment
  std::uint64_t too_deep{0};     ///< deeper than the bound, or a path that is too long
  std::uint64_t git{0};          ///< directories .git, which are not gone into
  std::uint64_t credentials{0};  ///< files named like one, for search_text
  std::uint64_t binary{0};       ///< files that are no text, for search_text
};

/// One entry on the way; the texts are gone with the next one.
struct walked_entry {
  std::string_view canonical;
  std::string_view below;  ///< from where the walk began, without a leading slash
  std::string_view name;
  file_type type{file_type::file};
  region where{region::workspace};
};

class tree_walk {
 public:
  /// False: no more.
  using visitor = std::function<bool(const walked_entry&)>;

  /// `now` and `bounds` must outlive it. The time begins here.
  tree_walk(const acting& now, const tool_bounds& bounds);

  /// Goes through all that lies below `start`, which is open as `directory`. A directory is told of
  /// before what is in it; the order is the directories' own.
  walk_end run(descriptor directory, const std::string& start, const visitor& tell);

  /// Whether the time is over or the call was cancelled; nothing while there is time.
  [[nodiscard]] walk_end time_left();

  [[nodiscard]] passed_over& passed() noexcept { return passed_; }
  [[nodiscard]] std::uint64_t seen() const noexcept { return seen_; }

 private:
  struct level {
    entries names;
    std::size_t path_size;
  };
  [[nodiscard]] walk_end step(const visitor& tell);
  [[nodiscard]] bool is_allowed(const walked_entry& entry) const;
  void go_into(const walked_entry& entry);
  void tell_progress();

  const acting& now_;
  const tool_bounds& bounds_;
  std::chrono::steady_clock::time_point began_;
  std::chrono::steady_clock::time_point told_;
  std::vector<level> levels_;
  std::string path_;  // of the directory at the top of `levels_`, then of its entry
  std::size_t start_size_{0};
  std::uint64_t seen_{0};
  bool is_in_git_{false};
  passed_over passed_;
};

/// Puts `truncated`, and where it is: `stopped`, `next_offset` (where `enough` stopped it), and then
/// `skipped`. Adds to `text` the line that says how to go on.
void put_end(json& out, std::string& text, walk_end end, std::uint64_t next,
             const passed_over& passed);

/// The part of an output schema for that, without braces.
extern const std::string_view end_schema;

/// The output schema of a tool that finds things below a directory. `members` is what each match has
/// beside its place, `required` what it always has, `counted` the member that counts what was looked
/// at: parts of JSON, without braces.
[[nodiscard]] std::string matches_schema(std::string_view members, std::string_view required,
                                         std::string_view counted);

/// The end of that tool's input schema, from `offset` on: at most `most` of `things` at once.
[[nodiscard]] std::string page_schema(std::size_t most, std::string_view things);

}  // namespace pinfold::mcp
