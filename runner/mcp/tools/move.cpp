// move: one name becomes another, within what the grant covers at both ends.
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
    R"("from":{"type":"string","description":"what is moved; a link itself, not what it leads to"},)"
    R"("to":{"type":"string","description":"its new path, the last name included; the directory above has to be there"},)"
    R"("overwrite":{"type":"boolean","description":"replace what is at the new path; default false"}},)"
    R"("required":["from","to"],"additionalProperties":false})";

constexpr std::string_view output_schema =
    R"({"type":"object","properties":{)"
    R"("from":{"type":"string"},"from_base64":{"type":"string"},)"
    R"("to":{"type":"string"},"to_base64":{"type":"string"},"addressable":{"type":"boolean"}},)"
    R"("required":["from","to"]})";

tool_result move_path(const tool_call& call) {
  argument_reader arguments{call.arguments, operation::rename};
  const auto from = arguments.text("from");
  const auto to = arguments.text("to");
  const bool replaces = arguments.flag("overwrite", false);
  if (auto why = arguments.wrong()) return not_done(std::move(*why));
  auto now = acting::begin(call);
  if (!now) return not_done(std::move(now.error()));
  auto done = now->rename(from, to, replaces ? overwrite::allowed : overwrite::refused);
  if (!done) {
    auto& why = done.error();
    if (why.error == code::invalid_argument && why.detail.empty()) {
      why.detail = "a directory cannot move into itself, nor anything to another file system";
    }
    if (why.error == code::already_exists && !replaces) why.detail = "with overwrite it is replaced";
    return now->finish(not_done(std::move(why)));
  }
  now->after_read(done->from);  // by its new name nobody would know what it is
  json out;
  put_name(out, "from", as_given(now->ws(), done->from));
  put_name(out, "to", as_given(now->ws(), done->to));
  return now->finish(mcp::done("Moved " + shown(as_given(now->ws(), done->from)) + " to " +
                                   shown(as_given(now->ws(), done->to)) + ".",
                               std::move(out)));
}

}  // namespace

tool move_tool(const session& now) {
  return {.name = "move",
          .title = "Move or rename",
          .description = described(
              now,
              "Moves or renames a file, a link or a directory with all that is in it. What is "
              "at the new path is replaced only when overwrite is true."),
          .input = std::string{input_schema},
          .output = std::string{output_schema},
          .hints = {.destructive = true},
          .runs = pace::file,
          .act = move_path};
}

}  // namespace pinfold::mcp
