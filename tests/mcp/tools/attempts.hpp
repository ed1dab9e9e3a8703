// Every file tool tried on one path.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "mcp/tools/ground.hpp"

namespace pinfold_test {

using namespace pinfold;

struct attempt {
  std::string tool;
  json arguments;
};

/// Every tool with a path, on that one.
inline std::vector<attempt> attempts_on(const std::string& path) {
  return {
      {"read_file", {{"path", path}}},
      {"read_file", {{"path", path}, {"base64", true}}},
      {"write_file", {{"path", path}, {"content", "changed"}}},
      {"write_file", {{"path", path}, {"content", "changed"}, {"make_directories", true}}},
      {"edit_file", {{"path", path}, {"old_text", "c"}, {"new_text", "changed"}}},
      {"list_directory", {{"path", path}}},
      {"find_files", {{"path", path}, {"pattern", "*"}}},
      {"search_text", {{"path", path}, {"pattern", "."}}},
      {"move", {{"from", path}, {"to", "stolen"}}},
      {"move", {{"from", "own"}, {"to", path}, {"overwrite", true}}},
      {"remove", {{"path", path}}},
      {"remove", {{"path", path}, {"recursive", true}}},
  };
}

/// The lines of attempts that were not answered with one of these codes.
inline std::string not_refused(tools_at& tools, const std::string& path, const words& codes) {
  std::string wrong;
  for (const auto& [name, arguments] : attempts_on(path)) {
    const auto came = tools.result(name, arguments);
    const auto said = came.refused ? std::string{name_of(came.refused->error)} : "ok";
    const bool is_refused = std::ranges::find(codes, said) != codes.end();
    if (!is_refused) wrong += name + ' ' + arguments.dump() + ": " + said + "\n";
    const bool is_told = came.effects.size() == 1 && came.effects[0].says == verdict::refuse;
    if (!is_told) wrong += name + ": not told of\n";
  }
  return wrong;
}

}  // namespace pinfold_test
