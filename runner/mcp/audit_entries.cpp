// What of a call is written down, and how much of it: see audit_entries.hpp.
#include "mcp/audit_entries.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

#include <nlohmann/json.hpp>
#include <pinfold/version.hpp>

#include "json/dumped.hpp"
#include "json/utf8.hpp"
#include "mcp/audit_file.hpp"

namespace pinfold::mcp {
namespace {

/// Arguments whose text says what a call is about. Of any other text the length is kept: it is content,
/// and an audit log is no copy of the files.
constexpr std::array<std::string_view, 9> told_arguments{
    "command", "cwd", "files", "from", "label", "path", "pattern", "to", "type"};

constexpr std::size_t most_arguments = 32;
constexpr std::size_t longest_name = 64;

/// The start of `text`, which splits no character.
std::string_view start_of(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  text = text.substr(0, most);
  text.remove_suffix(unfinished_at_end(text));
  return text;
}

void put_text(json& object, const std::string& name, std::string_view text) {
  put_bytes(object, name, start_of(text, longest_text));
  if (text.size() > longest_text) object[name + "_bytes"] = text.size();
}

void put_text_or_null(json& object, const std::string& name, std::string_view text) {
  if (text.empty()) {
    object[name] = nullptr;
  } else {
    put_text(object, name, text);
  }
}

std::size_t size_of(const json& value) {
  return dumped(value).size();
}

/// Takes away from the end of a list until what is left is short enough; how many were taken.
std::size_t shorten(json& list) {
  std::size_t bytes = 0;
  std::size_t kept = 0;
  for (; kept < list.size(); ++kept) {
    bytes += size_of(list[kept]) + 1;
    if (bytes > longest_list) break;
  }
  const auto taken = list.size() - kept;
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(kept), list.end());
  return taken;
}

std::string time_text(std::chrono::system_clock::time_point at) {
  const auto whole = std::chrono::floor<std::chrono::milliseconds>(at);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(whole);
  const std::time_t count = std::chrono::system_clock::to_time_t(seconds);
  std::tm parts{};
  ::gmtime_r(&count, &parts);
  std::array<char, 40> text{};
  const auto size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::array<char, 16> rest{};
  std::snprintf(rest.data(), rest.size(), ".%03dZ", static_cast<int>((whole - seconds).count()));
  return std::string{text.data(), size} + rest.data();
}

bool is_told(std::string_view name) {
  return std::ranges::find(told_arguments, name) != told_arguments.end();
}

/// What the log itself adds to a name, and the field for what is left out. An argument of such a name is
/// never written: it would be read as the log's word.
constexpr std::array<std::string_view, 4> added_endings{"_base64", "_bytes", "_items", "_value"};
constexpr std::string_view left_out_field = "left_out";

bool is_ours(std::string_view name) {
  return name == left_out_field ||
         std::ranges::any_of(added_endings, [&](auto ending) { return name.ends_with(ending); });
}

/// A name that is told holds a text or is not there: a reader takes it for the path or the command.
void put_argument(json& into, const std::string& name, const json& value) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (is_told(name)) return put_text(into, name, text);
    into[name + "_bytes"] = text.size();
  } else if (value.is_structured()) {
    into[name + "_items"] = value.size();
  } else {
    into[is_told(name) ? name + "_value" : name] = value;
  }
}

/// A call may hold anything, so names are bounded as well as values.
json told(const json& arguments) {
  auto object = json::object();
  std::size_t left_out = 0;
  std::size_t count = 0;
  for (const auto& [name, value] : arguments.items()) {
    if (++count > most_arguments || name.size() > longest_name || is_ours(name)) {
      ++left_out;
    } else {
      put_argument(object, name, value);
    }
  }
  if (left_out > 0) object[left_out_field] = left_out;
  return object;
}

json to_entry(const effect& one) {
  json object;
  object["operation"] = name_of(one.op);
  object["verdict"] = name_of(one.says);
  object["why"] = one.why ? json(name_of(*one.why)) : json(nullptr);
  put_text(object, "asked", one.asked);
  put_text_or_null(object, "canonical", one.canonical);
  if (!one.to.empty()) put_text(object, "to", one.to);
  return object;
}

bool is_mere_reading(const effect& one) {
  const bool reads = one.op == operation::read || one.op == operation::list;
  return reads && one.says != verdict::refuse;
}

/// What was refused and what changes something come first: a list is cut at its end.
json effects_of(const std::vector<effect>& effects) {
  auto list = json::array();
  for (const bool reading : {false, true}) {
    for (const auto& one : effects) {
      if (is_mere_reading(one) == reading) list.push_back(to_entry(one));
    }
  }
  return list;
}

json questions_of(std::span<const answered_question> questions) {
  auto list = json::array();
  for (const auto& one : questions) {
    json object;
    object["operation"] = name_of(one.asked.op);
    object["why"] = name_of(one.asked.why);
    put_text(object, "about", one.asked.about);
    if (!one.asked.to.empty()) put_text(object, "to", one.asked.to);
    object["answer"] = name_of(one.given);
    list.push_back(std::move(object));
  }
  return list;
}

json refusal_or_null(const std::optional<refusal>& refused) {
  if (!refused) return nullptr;
  auto bounded = *refused;
  for (auto* text : {&bounded.path, &bounded.resolved, &bounded.boundary, &bounded.detail}) {
    text->resize(start_of(*text, longest_text).size());
  }
  return pinfold::to_json(bounded);
}

/// The run record as `run --json` has it, less what the streams held.
json record_or_null(const std::shared_ptr<const run_record>& record) {
  if (!record) return nullptr;
  auto object = pinfold::to_json(*record);
  for (const auto* stream : {"stdout", "stderr"}) object[stream].erase("text");
  if (auto& left = object["host_run"]; left.is_object()) {
    left["more"] = left["more"].get<std::uint64_t>() + shorten(left["found"]);
  }
  if (auto& egress = object["egress"]; egress.is_object()) {
    egress["more"] = egress["more"].get<std::uint64_t>() + shorten(egress["attempts"]);
  }
  object["refusal"] = refusal_or_null(record->error);
  return object;
}

constexpr std::string_view name_of_end(call_end how) noexcept {
  switch (how) {
    case call_end::done:
      return "done";
    case call_end::refused:
      return "refused";
    case call_end::cancelled:
      return "cancelled";
    case call_end::failed:
      return "failed";
  }
  return "failed";
}

}  // namespace

json audit_entry(std::string_view event, std::string_view session,
                 std::chrono::system_clock::time_point at) {
  json entry;
  entry["event"] = event;
  entry["session"] = session;
  entry["at"] = time_text(at);
  return entry;
}

void put_opening(json& entry, const audit_opening& facts) {
  entry["format"] = audit_format;
  entry["program"] = "pinfold " + std::string{version_text};
  entry["pid"] = ::getpid();
  put_text(entry, "workspace", facts.workspace);
  entry["mode"] = name_of(facts.present);
  entry["gate"] = name_of(facts.open);
  entry["taint"] = labels_of(facts.labels);
  entry["network"] = name_of(decide_network(facts.open, facts.present, facts.labels));
  json list(facts.egress);
  (void)shorten(list);
  entry["egress_list"] = facts.egress.empty() ? json(nullptr) : std::move(list);
  entry["commands"] = facts.boundary == enforcement::enforced ? "confined" : "unconfined";
}

void put_begun(json& entry, const call_begun& call, decision network) {
  entry["call"] = call.number;
  put_text(entry, "tool", call.tool);
  entry["arguments"] = told(call.arguments);
  entry["taint"] = labels_of(call.before);
  entry["network"] = name_of(network);
}

void put_ended(json& entry, const call_ended& call) {
  entry["call"] = call.number;
  put_text(entry, "tool", call.tool);
  entry["how"] = name_of_end(call.how);
  entry["duration_ms"] = std::chrono::round<std::chrono::milliseconds>(call.took).count();
  const tool_result nothing{};
  const auto& result = call.result != nullptr ? *call.result : nothing;
  entry["effects"] = effects_of(result.effects);
  const auto left_out = shorten(entry["effects"]);
  entry["more_effects"] = left_out;
  entry["questions"] = questions_of(call.questions);
  const auto questions_left_out = shorten(entry["questions"]);
  entry["more_questions"] = questions_left_out;
  entry["refusal"] = refusal_or_null(result.refused);
  entry["taint"] = labels_of(call.after);
  entry["record"] = record_or_null(result.record);
}

void put_taint(json& entry, std::uint64_t call, taint before, taint after,
               decision network_before, decision network) {
  entry["call"] = call;
  entry["added"] = json::array();
  for (const auto& one : taint_labels) {
    if (after.includes(one.label) && !before.includes(one.label)) entry["added"].push_back(one.name);
  }
  entry["taint"] = labels_of(after);
  entry["network_before"] = name_of(network_before);
  entry["network"] = name_of(network);
}

}  // namespace pinfold::mcp
