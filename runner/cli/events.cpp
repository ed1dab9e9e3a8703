// One object a line; the record's own names are those of `--json`.
#include "cli/events.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "json/egress.hpp"
#include "json/utf8.hpp"

namespace pinfold {
namespace {

json named(std::string_view event) {
  json object;
  object["event"] = event;
  return object;
}

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

constexpr std::string_view name_of(stream which) noexcept {
  return which == stream::out ? "stdout" : "stderr";
}

}  // namespace

void event_writer::started(const run_record& so_far) {
  auto event = named("started");
  event["backend"] = pinfold::name_of(so_far.backend);
  const auto plain = so_far.network == network_access::on ? "on" : "off";
  event["network"] = so_far.egress ? "list" : plain;
  put_bytes(event, "workspace", so_far.workspace);
  event["setup_ms"] = std::chrono::round<std::chrono::milliseconds>(so_far.setup).count();
  to_(event);
}

void event_writer::output(stream which, std::string_view piece) {
  auto& begun = unfinished_[static_cast<std::size_t>(which)];
  const auto text = std::exchange(begun, {}) + std::string{piece};
  const auto whole = text.size() - unfinished_at_end(text);
  begun = text.substr(whole);
  if (whole > 0) put_output(which, std::string_view{text}.substr(0, whole));
}

void event_writer::put_output(stream which, std::string_view text) {
  auto event = named("output");
  event["stream"] = name_of(which);
  event["text"] = with_replacements(text);
  to_(event);
}

void event_writer::egress(const egress_attempt& attempt) {
  auto event = named("egress");
  event["state"] = attempt.is_open ? "open" : attempt.refused ? "refused" : "closed";
  event.update(to_json(attempt));
  to_(event);
}

void event_writer::heartbeat(const progress& so_far) {
  auto event = named("heartbeat");
  event["elapsed_ms"] = so_far.elapsed.count();
  event["left_ms"] = so_far.left ? json(so_far.left->count()) : json(nullptr);
  event["stdout_bytes"] = so_far.out_bytes;
  event["stderr_bytes"] = so_far.err_bytes;
  event["processes"] = or_null(so_far.processes);
  event["memory"] = or_null(so_far.memory);
  to_(event);
}

void event_writer::ended(const run_record& record, record_role role) {
  for (const auto which : {stream::out, stream::err}) {
    const auto& begun = unfinished_[static_cast<std::size_t>(which)];
    if (!begun.empty()) put_output(which, begun);
  }
  auto event = named("ended");
  event["record"] = to_json(record, role);
  to_(event);
}

}  // namespace pinfold
