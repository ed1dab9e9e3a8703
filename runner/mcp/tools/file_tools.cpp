#include <pinfold/describe.hpp>

#include <nlohmann/json.hpp>

#include "mcp/tools/tools.hpp"

namespace pinfold::mcp {

std::string described(const session& now, std::string_view what_it_does) {
  std::string text{what_it_does};
  if (const auto held = now.held()) {
    text += ' ';
    text += rule_for_file_tools((*held)->grant(), now.present());
  }
  return text;
}

std::vector<tool> bounded_file_tools(const session& now, const tool_bounds& bounds) {
  std::vector<tool> all;
  all.push_back(read_file_tool(now, bounds));
  all.push_back(write_file_tool(now));
  all.push_back(edit_file_tool(now, bounds));
  all.push_back(list_directory_tool(now, bounds));
  all.push_back(find_files_tool(now, bounds));
  all.push_back(search_text_tool(now, bounds));
  all.push_back(add_taint_tool());
  all.push_back(move_tool(now));
  all.push_back(remove_tool(now));
  return all;
}

std::vector<tool> file_tools(const session& now) {
  return bounded_file_tools(now, {});
}

}  // namespace pinfold::mcp
