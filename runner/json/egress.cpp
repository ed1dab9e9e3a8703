#include "json/egress.hpp"

#include <nlohmann/json.hpp>

namespace pinfold {

json to_json(const egress_attempt& attempt) {
  json object;
  put_bytes(object, "host", attempt.host);
  object["port"] = attempt.port;
  object["protocol"] = name_of(attempt.protocol);
  object["address"] = attempt.address.empty() ? json(nullptr) : json(attempt.address);
  object["refusal"] = attempt.refused ? to_json(*attempt.refused) : json(nullptr);
  object["sent"] = attempt.sent;
  object["received"] = attempt.received;
  object["started_ms"] = attempt.started.count();
  object["duration_ms"] = attempt.duration.count();
  return object;
}

json egress_or_null(const std::optional<egress_report>& report) {
  if (!report) return nullptr;
  json object;
  object["list"] = report->list;
  object["attempts"] = json::array();
  for (const auto& one : report->attempts) object["attempts"].push_back(to_json(one));
  object["more"] = report->more;
  object["sent"] = report->sent;
  object["received"] = report->received;
  return object;
}

}  // namespace pinfold
