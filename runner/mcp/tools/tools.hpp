// The tools for files, each described for a session. What they share: paths are what a model said;
// offsets and counts are bounded; what was cut says so and how to go on.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "mcp/tool.hpp"

namespace pinfold::mcp {

/// What one call may take. The defaults are what sessions get; tests take less.
struct tool_bounds {
  std::size_t read_bytes{std::size_t{256} << 10};    ///< of a file in one answer
  std::uint64_t line_scan{std::uint64_t{64} << 20};  ///< passed over to find a line by its number
  std::size_t edited_bytes{std::size_t{16} << 20};   ///< of a file that is edited, before and after
  std::size_t listed{1000};                          ///< entries in one answer
  std::size_t sorted{20'000};  ///< a directory with more entries is listed in its own order
  std::size_t found{1000};     ///< names in one answer of find_files
  std::size_t matches{500};    ///< lines in one answer of search_text
  std::size_t match_bytes{std::size_t{128} << 10};  ///< of all lines in such an answer
  std::size_t line_bytes{std::size_t{64} << 10};    ///< a longer line is searched in parts
  std::size_t shown_bytes{400};                     ///< of one line in an answer
  unsigned depth{64};                               ///< of directories below where a walk begins
  std::uint64_t entries{1'000'000};                 ///< that a walk looks at
  std::chrono::milliseconds time{std::chrono::seconds{20}};  ///< of a walk
};

[[nodiscard]] tool read_file_tool(const session& now, const tool_bounds& bounds);
[[nodiscard]] tool write_file_tool(const session& now);
[[nodiscard]] tool edit_file_tool(const session& now, const tool_bounds& bounds);
[[nodiscard]] tool list_directory_tool(const session& now, const tool_bounds& bounds);
[[nodiscard]] tool find_files_tool(const session& now, const tool_bounds& bounds);
[[nodiscard]] tool search_text_tool(const session& now, const tool_bounds& bounds);
[[nodiscard]] tool add_taint_tool();
[[nodiscard]] tool move_tool(const session& now);
[[nodiscard]] tool remove_tool(const session& now);

/// All of them; `file_tools` of tool.hpp with bounds of one's own.
[[nodiscard]] std::vector<tool> bounded_file_tools(const session& now, const tool_bounds& bounds);

/// What a tool does, then the rule for paths as it is in this session.
[[nodiscard]] std::string described(const session& now, std::string_view what_it_does);

}  // namespace pinfold::mcp
