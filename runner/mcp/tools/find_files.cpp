// find_files: the names below a directory that match a pattern.
#include <fcntl.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "mcp/arguments.hpp"
#include "mcp/tools/glob.hpp"
#include "mcp/tools/text.hpp"
#include "mcp/tools/walk.hpp"

namespace pinfold::mcp {

namespace {

struct wanted {
  std::string_view path;
  std::optional<file_type> type;
  std::uint64_t offset{0};
  std::size_t limit{0};
};

struct found_name {
  std::string canonical;
  file_type type;
};

std::expected<std::optional<file_type>, refusal> read_type(std::string_view name) {
  if (name == "any") return std::nullopt;
  for (const auto type : {file_type::file, file_type::directory, file_type::link}) {
    if (type_name(type) == name) return type;
  }
  return std::unexpected{
      wrong_argument(operation::list, "type", "it has to be any, file, directory or link")};
}

tool_result answer(const acting& now, const std::string& canonical, const wanted& asked,
                   std::vector<found_name> found, walk_end end, tree_walk& walk) {
  json out;
  put_name(out, "path", as_given(now.ws(), canonical));
  std::ranges::sort(found, {}, &found_name::canonical);
  auto& all = out["matches"] = json::array();
  std::string text;
  for (const auto& match : found) {
    json one;
    put_name(one, "path", as_given(now.ws(), match.canonical));
    one["type"] = type_name(match.type);
    all.push_back(std::move(one));
    text += shown(as_given(now.ws(), match.canonical));
    text += match.type == file_type::directory ? "/\n" : "\n";
  }
  if (found.empty()) text = "Nothing of that name.\n";
  out["offset"] = asked.offset;
  out["entries"] = walk.seen();
  put_end(out, text, end, asked.offset + found.size(), walk.passed());
  return mcp::done(std::move(text), std::move(out));
}

tool_result find_files(const tool_call& call, const tool_bounds& bounds) {
  argument_reader from{call.arguments, operation::list};
  const auto pattern = from.text("pattern");
  const auto type = from.text_if_given("type").value_or("any");
  wanted asked;
  asked.path = from.text_if_given("path").value_or(".");
  asked.offset = from.number("offset", 0, std::uint64_t{1} << 53, 0);
  asked.limit = from.number("limit", 1, bounds.found, bounds.found);
  if (auto why = from.wrong()) return not_done(std::move(*why));
  const auto only = read_type(type);
  if (!only) return not_done(only.error());
  asked.type = *only;
  const auto names = glob::parse(pattern);
  if (!names) return not_done(wrong_argument(operation::list, "pattern", names.error()));
  auto now = acting::begin(call);
  if (!now) return not_done(std::move(now.error()));

  descriptor directory;
  const auto start = now->perform(
      operation::list, asked.path,
      [&](const beneath::held_root& root, const resolved& place) -> std::expected<void, code> {
        auto opened = beneath::open_place(root, operation::list, place,
                                          {.flags = O_RDONLY | O_DIRECTORY | beneath::never_wait});
        if (!opened) return std::unexpected{opened.error()};
        directory = std::move(*opened);
        return {};
      },
      leading_out::refused);
  if (!start) return now->finish(not_done(start.error()));
  now->after_list(*start);

  tree_walk walk{*now, bounds};
  std::vector<found_name> found;
  std::uint64_t count = 0;
  const auto end = walk.run(std::move(directory), *start, [&](const walked_entry& entry) {
    if (asked.type && entry.type != *asked.type) return true;
    if (!names->matches(entry.below, entry.name)) return true;
    if (count++ < asked.offset) return true;
    if (found.size() == asked.limit) return false;
    found.push_back({std::string{entry.canonical}, entry.type});
    return true;
  });
  return now->finish(answer(*now, *start, asked, std::move(found), end, walk));
}

std::string input_schema(const tool_bounds& bounds) {
  return R"({"type":"object","properties":{)"
         R"("pattern":{"type":"string","description":"*.c, test_?.py, *.{ts,tsx}: for the last name; src/**/*.h, with a '/': for the path below the directory"},)"
         R"("path":{"type":"string","description":"the directory to look below; default the workspace"},)"
         R"("type":{"type":"string","enum":["any","file","directory","link"]},)" +
         page_schema(bounds.found, "");
}

std::string output_schema() {
  return matches_schema(
      R"("type":{"type":"string","enum":["file","directory","link","special"]})",
      R"("path","type")", "entries");
}

}  // namespace

tool find_files_tool(const session& now, const tool_bounds& bounds) {
  return {.name = "find_files",
          .title = "Find files by name",
          .description = described(
              now,
              "Finds files and directories by a name pattern, below a directory. Links are "
              "listed and not followed; directories .git are not gone into unless the path is "
              "in one; ignore files mean nothing. A long answer is cut and says how to go on."),
          .input = input_schema(bounds),
          .output = output_schema(),
          .hints = {.read_only = true, .idempotent = true},
          .runs = pace::file,
          .act = [bounds](const tool_call& call) { return find_files(call, bounds); }};
}

}  // namespace pinfold::mcp
