// What tools make their answers with.
#include <utility>

#include <nlohmann/json.hpp>

#include "mcp/tool.hpp"

namespace pinfold::mcp {
namespace {

std::string_view verb_for(operation op) noexcept {
  switch (op) {
    case operation::make_directory:
      return "make the directory";
    case operation::rename:
      return "move";
    case operation::execute:
      return "run";
    case operation::read:
    case operation::write:
    case operation::list:
    case operation::remove:
    case operation::connect:
      break;
  }
  return name_of(op);
}

/// What is asked for and why it is not simply allowed, for whoever sits there: a refusal's sentence tells
/// the model what to do instead.
std::string text_about(const verdict& asked, std::string_view manner) {
  std::string text = "The agent asks to ";
  text += verb_for(asked.about().op());
  text += ' ';
  append_quoted(text, asked.about().subject().as_the_call_says());
  if (asked.about().op() == operation::rename) {
    text += " to ";
    append_quoted(text, asked.about().place().as_the_call_says());
  }
  text += manner;
  if (asked.reason() == code::unconfined_forbidden) {
    text += " without a sandbox: nothing will hold it to the workspace, it can do whatever you can";
  } else {
    text += ", outside the workspace ";
    append_quoted(text, asked.boundary());
  }
  return text + ". Allow this one call?";
}

question question_about(const verdict& asked, std::string_view manner) {
  const auto& call = asked.about();
  const bool has_target = call.op() == operation::rename;
  return {.op = call.op(),
          .why = asked.reason(),
          .about = std::string{call.subject().as_the_call_says()},
          .to = std::string{has_target ? call.place().as_the_call_says() : std::string_view{}},
          .text = text_about(asked, manner)};
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
                                                std::string_view as_asked,
                                                std::string_view manner) {
  auto refused = asked.to_refusal(as_asked);
  if (asked == verdict::ask) {
    if (auto why = person.refuses(question_about(asked, manner))) {
      // That nobody is there to approve it is not why: somebody was asked, or could not be.
      if (asked.reason() == code::unconfined_forbidden) refused.detail = "no sandbox would hold it";
      refused.detail += "; " + *why;
      return std::unexpected{std::move(refused)};
    }
  }
  auto grant = approver::in_the_harness().approve(asked);
  if (!grant) return std::unexpected{std::move(refused)};
  return std::move(*grant);
}

}  // namespace pinfold::mcp
