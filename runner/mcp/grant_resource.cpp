// `pinfold://grant`: what the session may touch, what it has taken in, and what was decided last.
#include <utility>

#include <nlohmann/json.hpp>

#include "json/dumped.hpp"
#include "mcp/results.hpp"

namespace pinfold::mcp {
namespace {

json carve_outs_of(const grant& rules) {
  auto all = json::array();
  for (const auto& one : rules.carve_outs()) {
    json entry;
    put_bytes(entry, "path", one.path);
    entry["kind"] = one.kind == carve_kind::harness_state ? "harness_state" : "host_run";
    all.push_back(std::move(entry));
  }
  return all;
}

json roots_of(const grant& rules) {
  auto all = json::array();
  for (const auto& one : rules.extra_roots()) {
    json entry;
    put_bytes(entry, "path", one.path);
    entry["access"] = one.access == root_access::write ? "write" : "read";
    all.push_back(std::move(entry));
  }
  return all;
}

json decisions_of(const session& now) {
  auto all = json::array();
  for (const auto& one : now.last_decisions()) {
    json entry;
    entry["call"] = one.call;
    entry["tool"] = one.tool;
    entry["operation"] = name_of(one.op);
    put_bytes(entry, "asked", one.asked);
    put_bytes(entry, "canonical", one.canonical);
    entry["verdict"] = name_of(one.says);
    entry["reason"] = one.why ? json(name_of(*one.why)) : json(nullptr);
    all.push_back(std::move(entry));
  }
  return all;
}

}  // namespace

std::string grant_text(session& now) {
  const auto& defaults = now.settings().defaults;
  const auto labels = now.labels();
  json object;
  put_bytes(object, "workspace", defaults.workspace);
  const auto held = now.held();
  object["carve_outs"] = held ? carve_outs_of((*held)->grant()) : json::array();
  object["extra_roots"] = held ? roots_of((*held)->grant()) : json::array();
  object["refusal"] = held ? json(nullptr) : to_json(held.error());
  object["mode"] = name_of(now.present());
  object["gate"] = name_of(defaults.open);
  object["taint"] = labels_of(labels);
  object["network"] = name_of(decide_network(defaults.open, now.present(), labels));
  object["egress"] = json::array();
  for (const auto& one : egress_list_of(defaults.egress)) object["egress"].push_back(one.text());
  object["boundary"] = name_of(now.boundary());
  object["decisions"] = decisions_of(now);
  return dumped(object, 2);
}

}  // namespace pinfold::mcp
