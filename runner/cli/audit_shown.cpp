// The two forms of the answer: see audit_summary.hpp.
#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

#include "cli/audit_summary.hpp"
#include "cli/text.hpp"

namespace pinfold {
namespace {

using part = audit_summary::part;

enum class when_empty : bool { left_out, shown };
enum class traffic : bool { left_out, shown };
enum class place : bool { left_out, shown };

/// One list: its title, the names of its rows' fields, and what is shown of it. In the order in which
/// they are told.
struct section {
  part which;
  const char* title;
  const char* id;
  const char* what;
  const char* name;
  const char* detail;  ///< nullptr: a row has none
  when_empty empty{when_empty::shown};
  traffic bytes{traffic::left_out};
  place lies{place::left_out};
};

constexpr std::array<section, audit_summary::parts> sections{{
    {part::refused, "refused", "refused", "error", "path", "detail"},
    {part::asked, "asked of a person", "asked", "answer", "about", "detail", when_empty::left_out,
     traffic::left_out, place::shown},
    {part::unfinished, "begun, end not known", "unfinished", "tool", "about", "detail",
     when_empty::left_out},
    {part::unsure, "perhaps changed", "unsure", "operation", "path", "detail",
     when_empty::left_out},
    {part::written, "written", "written", "operation", "path", nullptr, when_empty::shown,
     traffic::left_out, place::shown},
    {part::moved, "moved", "moved", "operation", "path", "to", when_empty::shown,
     traffic::left_out, place::shown},
    {part::removed, "removed", "removed", "operation", "path", nullptr, when_empty::shown,
     traffic::left_out, place::shown},
    {part::commands, "commands", "commands", "ended", "command", "detail"},
    {part::reached, "hosts reached", "reached", "protocol", "host", "detail", when_empty::shown,
     traffic::shown},
    {part::denied, "hosts denied", "denied", "error", "host", "detail", when_empty::shown,
     traffic::shown},
    {part::tainted, "tainted", "tainted", "label", "call", "detail"},
    {part::host_run, "the host may run later", "host_run", "kind", "path", "detail"},
    {part::errors, "errors", "errors", "error", "path", "detail", when_empty::left_out},
}};

std::string shown(const audit_list::row& one, const section& as) {
  auto text = terminal_safe(one.name);
  if (!one.detail.empty()) text += as.which == part::moved ? " -> " : "  ";
  text += terminal_safe(one.detail);
  if (as.lies == place::shown && one.lies == whereabouts::outside) {
    text += one.detail.empty() ? "  outside the workspace" : "; outside the workspace";
  }
  if (as.bytes == traffic::shown && one.sent + one.received > 0) {
    text += "  " + std::to_string(one.sent) + " bytes out, " + std::to_string(one.received) + " in";
  }
  if (as.which == part::tainted) text += "  " + terminal_safe(one.first);
  if (one.count > 1) text += "  (" + std::to_string(one.count) + " times)";
  return summary_row("  " + terminal_safe(one.what), text);
}

std::string shown(const audit_list& list, const section& as, std::size_t most) {
  if (list.total() == 0 && as.empty == when_empty::left_out) return {};
  auto text = summary_row(as.title, std::to_string(list.total()));
  const auto count = std::min(most, list.rows().size());
  for (std::size_t i = 0; i < count; ++i) text += shown(list.rows()[i], as);
  if (list.rows().size() > count) {
    text += "  and " + std::to_string(list.rows().size() - count) + " more (--top)\n";
  }
  if (list.more() > 0) text += "  and " + std::to_string(list.more()) + " that are not listed\n";
  return text;
}

json to_json(const audit_list& list, const section& as) {
  json object;
  object["total"] = list.total();
  object["more"] = list.more();
  object["rows"] = json::array();
  for (const auto& one : list.rows()) {
    json entry;
    put_bytes(entry, as.what, one.what);
    put_bytes(entry, as.name, one.name);
    if (as.detail != nullptr) put_bytes(entry, as.detail, one.detail);
    if (as.lies == place::shown) entry["outside"] = one.lies == whereabouts::outside;
    if (as.bytes == traffic::shown) {
      entry["sent"] = one.sent;
      entry["received"] = one.received;
    }
    entry["count"] = one.count;
    put_bytes(entry, "first", one.first);
    object["rows"].push_back(std::move(entry));
  }
  return object;
}

constexpr auto commands_note =
    "  what commands changed in the workspace is not listed: they are held to it, not watched\n";

}  // namespace

std::string audit_summary::table(std::size_t most) const {
  std::string text;
  for (const auto& one : sections) {
    text += shown(list(one.which), one, most);
    if (one.which == part::removed && list(part::commands).total() > 0) text += commands_note;
  }
  text += summary_row("calls", std::to_string(call_count()));
  for (const auto& [tool, count] : calls_) {
    text += summary_row("  " + terminal_safe(tool), std::to_string(count));
  }
  text += summary_row("sessions", std::to_string(saturating_sum(sessions_.size(), more_sessions_)));
  for (std::size_t i = 0; i < std::min(most, sessions_.size()); ++i) text += told(sessions_[i]);
  if (sessions_.size() > most) {
    text += "  and " + std::to_string(sessions_.size() - most) + " more (--top)\n";
  }
  return text + bad_.table("not entries");
}

std::string audit_summary::told(const session& one) {
  auto text = terminal_safe(one.workspace) + "  mode " + terminal_safe(one.mode) + ", gate " +
              terminal_safe(one.gate) + ", commands " + terminal_safe(one.commands) + ", " +
              std::to_string(one.calls) + " calls, until " + terminal_safe(one.last);
  if (!one.has_ended) text += ", without its end";
  return summary_row("  " + terminal_safe(one.first), text);
}

std::uint64_t audit_summary::call_count() const {
  std::uint64_t all = 0;
  for (const auto& one : sessions_) all = saturating_sum(all, one.calls);
  return all;
}

json audit_summary::object() const {
  json object;
  for (const auto& one : sections) object[one.id] = to_json(list(one.which), one);
  object["calls"] = json::object();
  for (const auto& [tool, count] : calls_) object["calls"][tool] = count;
  object["sessions"] = json::array();
  for (const auto& one : sessions_) {
    json entry;
    put_bytes(entry, "session", one.id);
    put_bytes(entry, "workspace", one.workspace);
    put_bytes(entry, "mode", one.mode);
    put_bytes(entry, "gate", one.gate);
    put_bytes(entry, "commands", one.commands);
    entry["calls"] = one.calls;
    put_bytes(entry, "first", one.first);
    put_bytes(entry, "last", one.last);
    entry["ended"] = one.has_ended;
    object["sessions"].push_back(std::move(entry));
  }
  object["more_sessions"] = more_sessions_;
  object["bad"] = bad_.object();
  return object;
}

}  // namespace pinfold
