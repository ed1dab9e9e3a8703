#include <pinfold/describe.hpp>

#include <vector>

#include <nlohmann/json.hpp>

#include "mcp/tools/tools.hpp"

namespace pinfold::mcp {

std::string described(const session& now, std::string_view what_it_does) {
  std::vector<extra_root> roots;
  for (const auto& path : now.settings().defaults.read_roots) {
    roots.push_back({path, root_access::read});
  }
  // What git obeys beyond the usual is named by the refusal: a list of it may be long.
  const grant usual{now.settings().defaults.workspace, default_carve_outs, roots};
  return std::string{what_it_does} + ' ' + rule_for_file_tools(usual, now.present());
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
