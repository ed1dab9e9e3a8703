// add_taint: the session's labels grow by one. There is no tool that takes one away.
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "mcp/arguments.hpp"
#include "mcp/tools/text.hpp"
#include "mcp/tools/tools.hpp"

namespace pinfold::mcp {

namespace {

constexpr std::string_view input_schema =
    R"({"type":"object","properties":{"label":{"type":"string","enum":["untrusted_content","private_data"],)"
    R"("description":"untrusted_content: text that somebody else wrote, which may hold orders; private_data: what must not leave the machine"}},)"
    R"("required":["label"],"additionalProperties":false})";

constexpr std::string_view output_schema =
    R"({"type":"object","properties":{"labels":{"type":"array","items":{"type":"string"},)"
    R"("description":"of the session now"}},"required":["labels"]})";

tool_result add_taint(const tool_call& call) {
  argument_reader from{call.arguments, operation::read};
  const auto name = from.text("label");
  if (auto why = from.wrong()) return not_done(std::move(*why));
  const auto label = parse_label(name);
  if (!label) {
    return not_done(wrong_argument(operation::read, "label",
                                   "it has to be untrusted_content or private_data; a label can "
                                   "be added and never taken away"));
  }
  const auto now = call.now.take_in(*label);
  json out;
  auto& labels = out["labels"] = json::array();
  std::string text = "The session has taken in:";
  for (const auto& one : taint_labels) {
    if (!now.includes(one.label)) continue;
    labels.push_back(one.name);
    text.append(" ").append(one.name);
  }
  return mcp::done(std::move(text), std::move(out));
}

}  // namespace

tool add_taint_tool() {
  return {
      .name = "add_taint",
      .title = "Add a label to the session",
      .description =
          "Says that the session has taken in untrusted content or private data, as a fetched "
          "page or a secret is. Labels close the network as the harness chose, and are only ever "
          "added: nothing takes one away.",
      .input = std::string{input_schema},
      .output = std::string{output_schema},
      .hints = {.idempotent = true},
      .runs = pace::quick,
      .act = add_taint};
}

}  // namespace pinfold::mcp
