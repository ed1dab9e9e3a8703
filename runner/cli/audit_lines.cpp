// A tree is made of the line, which is bounded, and taken apart: see audit_lines.hpp.
#include "cli/audit_lines.hpp"

#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/base64.hpp"
#include "json/json.hpp"
#include "mcp/audit_file.hpp"

namespace pinfold {
namespace {

/// Takes fields out of objects and keeps the first thing that is wrong.
class field_taker {
 public:
  const json* find(const json& from, const std::string& name) {
    const auto found = from.find(name);
    if (found != from.end()) return &*found;
    wrong(name, "is not there");
    return nullptr;
  }

  std::string text(const json& from, const std::string& name) {
    const auto* value = find(from, name);
    if (value == nullptr) return {};
    if (!value->is_string()) return wrong(name, "is no text"), std::string{};
    const auto twin = from.find(name + "_base64");
    if (twin == from.end()) return value->get<std::string>();
    auto bytes = twin->is_string() ? bytes_of_base64(twin->get_ref<const std::string&>())
                                   : std::nullopt;
    if (!bytes) wrong(name + "_base64", "is no base64");
    return std::move(bytes).value_or("");
  }

  /// Empty where it is null or not there at all.
  std::string text_or_empty(const json& from, const std::string& name) {
    const auto found = from.find(name);
    return found == from.end() || found->is_null() ? std::string{} : text(from, name);
  }

  std::uint64_t number(const json& from, const std::string& name) {
    const auto* value = find(from, name);
    if (value == nullptr) return 0;
    if (!value->is_number_unsigned()) return wrong(name, "is no whole number"), 0;
    return value->get<std::uint64_t>();
  }

  /// `each` for every element, which must be an object.
  void objects(const json& from, const std::string& name, auto&& each) {
    const auto* list = find(from, name);
    if (list == nullptr) return;
    if (!list->is_array()) return wrong(name, "is no list");
    for (const auto& one : *list) {
      if (!one.is_object()) return wrong(name, "is no list of objects");
      each(one);
    }
  }

  /// The object of that name; nothing where it is null.
  const json* object_or_null(const json& from, const std::string& name) {
    const auto* value = find(from, name);
    if (value == nullptr || value->is_null()) return nullptr;
    if (value->is_object()) return value;
    wrong(name, "is no object");
    return nullptr;
  }

  void wrong(const std::string& name, const char* how) {
    if (why_.empty()) why_ = "field \"" + name + "\" " + how;
  }
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  std::string why_;
};

std::optional<audited_refusal> refusal_of(field_taker& take, const json& from) {
  const auto* object = take.object_or_null(from, "refusal");
  if (object == nullptr) return std::nullopt;
  return audited_refusal{take.text(*object, "error"), take.text(*object, "operation"),
                         take.text(*object, "path"), take.text_or_empty(*object, "resolved")};
}

void take_attempts(field_taker& take, const json& record, audited_run& run) {
  const auto* egress = take.object_or_null(record, "egress");
  if (egress == nullptr) return;
  run.more_attempts = take.number(*egress, "more");
  take.objects(*egress, "attempts", [&](const json& one) {
    const auto refused = take.object_or_null(one, "refusal");
    run.attempts.push_back(
        {take.text(one, "host") + ":" + std::to_string(take.number(one, "port")),
         take.text(one, "protocol"), refused == nullptr ? "" : take.text(*refused, "error"),
         take.number(one, "sent"), take.number(one, "received")});
  });
}

void take_host_run(field_taker& take, const json& record, audited_run& run) {
  const auto* report = take.object_or_null(record, "host_run");
  if (report == nullptr) return;
  run.more_host_run = take.number(*report, "more");
  const auto* whole = take.find(*report, "complete");
  run.is_host_run_whole = whole != nullptr && whole->is_boolean() && whole->get<bool>();
  take.objects(*report, "found", [&](const json& one) {
    run.host_run.push_back(
        {take.text(one, "path"), take.text(one, "kind"), take.text_or_empty(one, "detail")});
  });
}

std::optional<audited_run> run_of(field_taker& take, const json& entry) {
  const auto* record = take.object_or_null(entry, "record");
  if (record == nullptr) return std::nullopt;
  audited_run run;
  run.ended = take.text(*record, "ended");
  const auto* exit_code = take.find(*record, "exit_code");
  if (exit_code != nullptr && exit_code->is_number_integer()) {
    run.exit_code = exit_code->get<std::int64_t>();
  }
  run.network = take.text(*record, "network");
  run.refused = refusal_of(take, *record);
  take_attempts(take, *record, run);
  take_host_run(take, *record, run);
  return run;
}

void take_session(field_taker& take, const json& entry, audit_line& line) {
  line.workspace = take.text(entry, "workspace");
  line.mode = take.text(entry, "mode");
  line.gate = take.text(entry, "gate");
  line.commands = take.text(entry, "commands");
}

void take_begins(field_taker& take, const json& entry, audit_line& line) {
  line.call = take.number(entry, "call");
  line.tool = take.text(entry, "tool");
  const auto* arguments = take.object_or_null(entry, "arguments");
  if (arguments == nullptr) return;
  const auto recursive = arguments->find("recursive");
  line.is_recursive = recursive != arguments->end() && *recursive == true;
  for (const auto* name : {"command", "path", "from", "pattern", "label"}) {
    if (line.about.empty()) line.about = take.text_or_empty(*arguments, name);
  }
}

/// Entries of earlier programs have none.
void take_questions(field_taker& take, const json& entry, audit_line& line) {
  if (!entry.contains("questions")) return;
  auto& to = line.questions.emplace();
  line.more_questions = take.number(entry, "more_questions");
  take.objects(entry, "questions", [&](const json& one) {
    to.push_back({take.text(one, "operation"), take.text(one, "why"), take.text(one, "about"),
                  take.text_or_empty(one, "to"), take.text(one, "answer")});
  });
}

void take_ended(field_taker& take, const json& entry, audit_line& line) {
  line.call = take.number(entry, "call");
  line.tool = take.text(entry, "tool");
  line.how = take.text(entry, "how");
  line.more_effects = take.number(entry, "more_effects");
  line.refused = refusal_of(take, entry);
  line.run = run_of(take, entry);
  take_questions(take, entry, line);
  take.objects(entry, "effects", [&](const json& one) {
    line.effects.push_back({take.text(one, "operation"), take.text(one, "verdict"),
                            take.text_or_empty(one, "why"), take.text(one, "asked"),
                            take.text_or_empty(one, "canonical"), take.text_or_empty(one, "to")});
  });
}

void take_taint(field_taker& take, const json& entry, audit_line& line) {
  line.call = take.number(entry, "call");
  line.network_before = take.text(entry, "network_before");
  line.network = take.text(entry, "network");
  const auto* labels = take.find(entry, "added");
  if (labels == nullptr) return;
  if (!labels->is_array()) return take.wrong("added", "is no list");
  for (const auto& one : *labels) {
    if (!one.is_string()) return take.wrong("added", "is no list of labels");
    line.added.push_back(one.get<std::string>());
  }
}

void take_end(field_taker& /*take*/, const json& /*entry*/, audit_line& /*line*/) {}

struct known_event {
  std::string_view name;
  audit_event event;
  void (*take)(field_taker&, const json&, audit_line&);
};

constexpr std::array events{
    known_event{"session", audit_event::session, take_session},
    known_event{"begins", audit_event::begins, take_begins},
    known_event{"ended", audit_event::ended, take_ended},
    known_event{"taint", audit_event::taint, take_taint},
    known_event{"end", audit_event::end, take_end},
};

/// The problem of a session's first entry that another program wrote.
std::optional<audit_problem> other_format(const json& entry) {
  const auto found = entry.find("format");
  if (found == entry.end() || !found->is_number_unsigned()) {
    return audit_problem{false, "field \"format\" is no whole number"};
  }
  const auto format = found->get<std::uint64_t>();
  if (format == mcp::audit_format) return std::nullopt;
  return audit_problem{true, "format " + std::to_string(format) + ", and this pinfold reads format " +
                                 std::to_string(mcp::audit_format) + " alone"};
}

}  // namespace

std::expected<audit_line, audit_problem> read_audit_line(std::string_view line) {
  const auto no = [](std::string why) {
    return std::unexpected{audit_problem{false, std::move(why)}};
  };
  if (line.size() > mcp::audit_file::longest_line) return no("longer than any entry");
  const auto entry = json::parse(line, nullptr, false);
  if (entry.is_discarded()) return no("not JSON, or cut short");
  if (!entry.is_object()) return no("not an object");
  field_taker take;
  audit_line read;
  const auto event = take.text(entry, "event");
  read.session = take.text(entry, "session");
  read.at = take.text(entry, "at");
  for (const auto& one : events) {
    if (one.name != event) continue;
    if (one.event == audit_event::session) {
      if (auto problem = other_format(entry)) return std::unexpected{std::move(*problem)};
    }
    read.event = one.event;
    one.take(take, entry, read);
  }
  if (!take.why().empty()) return no(take.why());
  return read;
}

}  // namespace pinfold
