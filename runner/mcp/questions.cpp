#include "mcp/questions.hpp"

#include <nlohmann/json.hpp>

#include "json/dumped.hpp"

namespace pinfold::mcp {

void questions::set(person now) {
  const std::lock_guard locked{lock_};
  person_ = now;
}

/// A form without fields: accepting it is the answer. Left out, the mode is form in every revision.
void questions::ask(const std::string& id, std::string_view question) {
  json object;
  object["jsonrpc"] = "2.0";
  object["id"] = id;
  object["method"] = "elicitation/create";
  object["params"]["message"] = question;
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

std::optional<std::string> questions::refuses(std::string_view question,
                                              std::stop_token cancelled) {
  std::unique_lock locked{lock_};
  if (person_ != person::present) {
    return person_ == person::absent
               ? "the client has no elicitation, so no person can be asked"
               : "the client has not said that it is initialized, so no person can be asked";
  }
  if (open_.size() >= most_open) return "too many questions wait for an answer";
  const auto id = "pinfold-" + std::to_string(++asked_);
  const auto mine = open_.emplace(id, answer::none).first;
  locked.unlock();
  ask(id, question);
  locked.lock();
  const bool came = changed_.wait_for(locked, cancelled, patience_,
                                      [mine] { return mine->second != answer::none; });
  const auto given = mine->second;
  open_.erase(mine);
  locked.unlock();
  if (came) return clause_for(given);
  withdraw(id);
  if (cancelled.stop_requested()) return "the call was cancelled";
  return "nobody answered in time";
}

std::optional<std::string> questions::clause_for(answer given) {
  switch (given) {
    case answer::yes:
      return std::nullopt;
    case answer::declined:
      return "the person declined";
    case answer::dismissed:
      return "the person dismissed the question";
    case answer::none:
    case answer::failed:
      break;
  }
  return "the client could not ask the person";
}

questions::answer questions::read(const response& given) {
  if (given.is_error || !given.body || !given.body->is_object()) return answer::failed;
  const auto action = given.body->find("action");
  if (action == given.body->end()) return answer::failed;
  if (*action == "accept") return answer::yes;
  if (*action == "decline") return answer::declined;
  return *action == "cancel" ? answer::dismissed : answer::failed;
}

void questions::answered(const response& given) {
  const auto* id = std::get_if<std::string>(&given.id);
  if (id == nullptr) return;
  {
    const std::lock_guard locked{lock_};
    const auto at = open_.find(*id);
    if (at == open_.end() || at->second != answer::none) return;  // the first answer counts
    at->second = read(given);
  }
  changed_.notify_all();
}

}  // namespace pinfold::mcp
