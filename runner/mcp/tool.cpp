// What tools make their answers with.
#include <utility>

#include <nlohmann/json.hpp>

#include "mcp/tool.hpp"

namespace pinfold::mcp {
namespace {

/// The question for a person: what is asked for, and why it is not simply allowed.
std::string question_about(const verdict& asked) {
  std::string text = "The agent asks to ";
  text += name_of(asked.about().op());
  text += ' ';
  append_quoted(text, asked.at());
  text += ". Without you it is refused: ";
  text += sentence_for(asked.reason());
  return text + ". Allow this one call?";
}

}  // namespace

tool_result done(std::string text, json structured, std::vector<effect> effects) {
  return {.text = std::move(text),
          .structured = std::make_shared<const json>(std::move(structured)),
          .refused = std::nullopt,
          .effects = std::move(effects),
          .record = nullptr};
}

tool_result not_done(refusal why, std::vector<effect> effects) {
  return {.text = {},
          .structured = nullptr,
          .refused = std::move(why),
          .effects = std::move(effects),
          .record = nullptr};
}

std::expected<one_call_grant, refusal> approval(asker& person, const verdict& asked,
                                                std::string_view as_asked) {
  auto refused = asked.to_refusal(as_asked);
  if (asked == verdict::ask) {
    if (auto why = person.refuses(question_about(asked))) {
      refused.detail += "; " + *why;
      return std::unexpected{std::move(refused)};
    }
  }
  auto grant = approver::in_the_harness().approve(asked);
  if (!grant) return std::unexpected{std::move(refused)};
  return std::move(*grant);
}

}  // namespace pinfold::mcp
