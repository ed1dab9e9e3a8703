// write_file: new content for a file, whole or not at all.
#include <pinfold/disk/change.hpp>

#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "mcp/arguments.hpp"
#include "mcp/tools/acting.hpp"
#include "mcp/tools/text.hpp"
#include "mcp/tools/tools.hpp"

namespace pinfold::mcp {

namespace {

constexpr std::string_view input_schema =
    R"({"type":"object","properties":{)"
    R"("path":{"type":"string","description":"the file"},)"
    R"("content":{"type":"string","description":"all that will be in it"},)"
    R"("make_directories":{"type":"boolean","description":"make the directories above it that are missing; default false"}},)"
    R"("required":["path","content"],"additionalProperties":false})";

constexpr std::string_view output_schema =
    R"({"type":"object","properties":{)"
    R"("path":{"type":"string"},"path_base64":{"type":"string"},"addressable":{"type":"boolean"},)"
    R"("created":{"type":"boolean","description":"no file was there before"},)"
    R"("bytes":{"type":"integer"}},"required":["path","created","bytes"]})";

/// The directories above `place`, as far as the guard allows them.
std::expected<void, code> make_above(const acting& now, const beneath::held_root& root,
                                     const resolved& place) {
  const resolved above{std::string{parent_of(place.canonical)}, place.where};
  const auto made = call::make_directory(above.canonical);
  if (!(now.now().check(made) == verdict::allow)) return {};  // the write says what is missing
  return beneath::make_each(root, above);
}

tool_result write_file(const tool_call& call) {
  argument_reader from{call.arguments, operation::write};
  const auto path = from.text("path");
  const auto content = from.text("content");
  const bool makes_above = from.flag("make_directories", false);
  if (auto why = from.wrong()) return not_done(std::move(*why));
  auto now = acting::begin(call);
  if (!now) return not_done(std::move(now.error()));
  bool is_new = false;
  const auto done = now->perform(
      operation::write, path,
      [&](const beneath::held_root& root, const resolved& place) -> std::expected<void, code> {
        if (makes_above) {
          if (auto made = make_above(*now, root, place); !made) return made;
        }
        const auto replaced = beneath::replace_at(root, place, content);
        if (!replaced) return std::unexpected{replaced.error()};
        is_new = *replaced == beneath::replaced::nothing;
        return {};
      });
  if (!done) {
    auto why = done.error();
    if (why.error == code::not_found && !makes_above) {
      why.detail = "with make_directories the directories above it are made";
    }
    return now->finish(not_done(std::move(why)));
  }
  json out;
  put_name(out, "path", as_given(now->ws(), *done));
  out["created"] = is_new;
  out["bytes"] = content.size();
  return now->finish(mcp::done((is_new ? "Created " : "Replaced ") +
                                   shown(as_given(now->ws(), *done)) + ": " +
                                   counted(content.size(), "byte", "bytes") + ".",
                               std::move(out)));
}

}  // namespace

tool write_file_tool(const session& now) {
  return {.name = "write_file",
          .title = "Write a file",
          .description = described(
              now,
              "Creates a file or replaces all of its content. Readers see the old content or "
              "the new, never a part; the mode is kept. A file with other names (hard links) is "
              "replaced under this name only."),
          .input = std::string{input_schema},
          .output = std::string{output_schema},
          .hints = {.destructive = true, .idempotent = true},
          .runs = pace::file,
          .act = write_file};
}

}  // namespace pinfold::mcp
