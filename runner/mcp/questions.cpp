#include "mcp/questions.hpp"

#include <nlohmann/json.hpp>

#include "json/dumped.hpp"
#include "json/showable.hpp"

namespace pinfold::mcp {
namespace {

std::optional<std::string> clause_for(reply given) {
  switch (given) {
    case reply::yes:
      return std::nullopt;
    case reply::declined:
      return "the person declined";
    case reply::dismissed:
      return "the person dismissed the question";
    case reply::unanswered:
      return "nobody answered in time";
    case reply::cancelled:
      return "the call was cancelled";
    case reply::failed:
      break;
  }
  return "the client could not ask the person";
}

}  // namespace

void questions::set(person now) {
  const std::lock_guard locked{lock_};
  person_ = now;
}

/// A form without fields: accepting it is the answer. Left out, the mode is form in every revision. The
/// agent chose part of the text, and clients show it as it comes.
void questions::ask(const std::string& id, std::string_view question) {
  json object;
  object["jsonrpc"] = "2.0";
  object["id"] = id;
  object["method"] = "elicitation/create";
  object["params"]["message"] = terminal_safe(question);
  object["params"]["requestedSchema"] = {{"type", "object"}, {"properties", json::object()}};
  to_.send(dumped(object));
}

void questions::withdraw(const std::string& id) {
  json object;
  object["jsonrpc"] = "2.0";
  object["method"] = "notifications/cancelled";
  object["params"] = {{"requestId", id}, {"reason", "the call is over, or nobody answered in time"}};
  to_.send(dumped(object));
}

questions::outcome questions::put(std::string_view question, std::stop_token cancelled) {
  std::unique_lock locked{lock_};
  if (person_ != person::present) {
    return {std::nullopt,
            person_ == person::absent
                ? "the client has no elicitation, so no person can be asked"
                : "the client has not said that it is initialized, so no person can be asked"};
  }
  if (open_.size() >= most_open) return {std::nullopt, "too many questions wait for an answer"};
  const auto id = "pinfold-" + std::to_string(++asked_);
  const auto mine = open_.emplace(id, std::nullopt).first;
  locked.unlock();
  ask(id, question);
  locked.lock();
  const bool came = changed_.wait_for(locked, cancelled, patience_,
                                      [mine] { return mine->second.has_value(); });
  auto given = mine->second.value_or(reply::unanswered);
  open_.erase(mine);
  locked.unlock();
  if (!came) {
    withdraw(id);
    if (cancelled.stop_requested()) given = reply::cancelled;
  }
  return {given, clause_for(given)};
}

reply questions::read(const response& given) {
  if (given.is_error || !given.body || !given.body->is_object()) return reply::failed;
  const auto action = given.body->find("action");
  if (action == given.body->end()) return reply::failed;
  if (*action == "accept") return reply::yes;
  if (*action == "decline") return reply::declined;
  return *action == "cancel" ? reply::dismissed : reply::failed;
}

void questions::answered(const response& given) {
  const auto* id = std::get_if<std::string>(&given.id);
  if (id == nullptr) return;
  {
    const std::lock_guard locked{lock_};
    const auto at = open_.find(*id);
    if (at == open_.end() || at->second) return;  // the first answer counts
    at->second = read(given);
  }
  changed_.notify_all();
}

}  // namespace pinfold::mcp
