// Large texts are written as JSON once each and put together as text, not as a tree that holds copies.
#include "mcp/results.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "json/dumped.hpp"

namespace pinfold::mcp {
namespace {

constexpr std::array<std::string_view, 4> revision_names{"2024-11-05", "2025-03-26", "2025-06-18",
                                                         "2025-11-25"};

void add_text(std::string& to, std::string text) {
  to += R"({"type":"text","text":)";
  to += dumped(json(std::move(text)));
  to += '}';
}

std::string refused_result(const tool_result& result, revision spoken) {
  json structured;
  if (result.structured) structured = *result.structured;
  auto why = json::object();
  why["refusal"] = structured["refusal"] = to_json(*result.refused);
  std::string text = R"({"content":[)";
  add_text(text, result.refused->message());
  if (!result.text.empty()) {
    text += ',';
    add_text(text, result.text);
  }
  text += ',';
  add_text(text, dumped(why));
  text += ']';
  if (spoken >= revision::v2025_06_18) text += R"(,"structuredContent":)" + dumped(structured);
  return text += R"(,"isError":true})";
}

/// What was refused fits the schema too: clients hold every structured result to it.
json with_refusal(json schema) {
  schema["properties"]["refusal"] = {
      {"type", json::array({"object", "null"})},
      {"description", "Why it was refused, or not all of it was done: error (a stable name), message, "
                      "operation, path, resolved, boundary, remedy"}};
  auto usual = json::object();
  usual["required"] = schema.contains("required") ? schema["required"] : json::array();
  schema.erase("required");
  schema["anyOf"] = json::array({std::move(usual), {{"required", json::array({"refusal"})}}});
  return schema;
}

json hints_of(const tool& one) {
  json hints;
  hints["title"] = one.title;
  hints["readOnlyHint"] = one.hints.read_only;
  hints["destructiveHint"] = one.hints.destructive;
  hints["idempotentHint"] = one.hints.idempotent;
  hints["openWorldHint"] = one.hints.open_world;
  return hints;
}

json listed_tool(const tool& one, revision spoken) {
  json entry;
  entry["name"] = one.name;
  if (spoken >= revision::v2025_06_18) entry["title"] = one.title;
  entry["description"] = one.description;
  entry["inputSchema"] = json::parse(one.input);
  if (spoken >= revision::v2025_06_18) entry["outputSchema"] = with_refusal(json::parse(one.output));
  if (spoken >= revision::v2025_03_26) entry["annotations"] = hints_of(one);
  return entry;
}

}  // namespace

std::string_view name_of(revision value) noexcept {
  return revision_names[static_cast<std::size_t>(value)];
}

revision negotiated(std::string_view name) noexcept {
  const auto* at = std::ranges::find(revision_names, name);
  if (at == revision_names.end()) return newest_revision;
  return static_cast<revision>(at - revision_names.begin());
}

std::string result_of(const tool_result& result, revision spoken) {
  if (result.refused) return refused_result(result, spoken);
  std::string text = R"({"content":[)";
  add_text(text, result.text);
  text += ']';
  if (spoken >= revision::v2025_06_18 && result.structured) {
    text += R"(,"structuredContent":)";
    text += dumped(*result.structured);
  }
  return text += '}';
}

std::string listed(const std::vector<tool>& tools, revision spoken) {
  auto all = json::object();
  all["tools"] = json::array();
  for (const auto& one : tools) all["tools"].push_back(listed_tool(one, spoken));
  return dumped(all);
}

}  // namespace pinfold::mcp
