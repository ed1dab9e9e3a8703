// Entries in the order in which they happened: see audit_log.hpp.
#include "mcp/audit_log.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "launch/random_digits.hpp"

namespace pinfold::mcp {
namespace {

refusal not_written(const std::string& path, std::string_view then, const std::string& why) {
  return refusal{.error = code::input_output_error,
                 .op = operation::write,
                 .path = path,
                 .resolved = {},
                 .boundary = {},
                 .detail = "the audit log cannot be written, so " + std::string{then} + ": " + why};
}

constexpr std::string_view nothing_is_done = "nothing is done";

std::string line_of(const json& entry) {
  auto text = one_line(entry);
  text.pop_back();  // the file adds the newline
  return text;
}

durability needed_after(const call_ended& call) {
  const bool was_command = call.result != nullptr && call.result->record != nullptr;
  const bool is_plain = call.how == call_end::done || call.how == call_end::cancelled;
  return is_plain && !was_command ? durability::later : durability::now;
}

}  // namespace

audit_log::audit_log(descriptor opened, std::string path, std::string session, audit_opening facts)
    : path_{std::move(path)},
      session_{std::move(session)},
      facts_{std::move(facts)},
      file_{std::move(opened), path_},
      labels_{facts_.labels} {}

std::expected<std::unique_ptr<audit_log>, refusal> audit_log::begin(descriptor opened,
                                                                    std::string path,
                                                                    audit_opening facts) {
  auto session = random_digits();
  if (session.empty()) {
    return std::unexpected{not_written(path, nothing_is_done, "the kernel gives no chance")};
  }
  std::unique_ptr<audit_log> log{
      new audit_log{std::move(opened), std::move(path), std::move(session), std::move(facts)}};
  auto first = log->entry("session");
  put_opening(first, log->facts_);
  log->owed_.push_back(line_of(first));
  if (!log->pay(durability::now)) return std::unexpected{not_written(log->path_, nothing_is_done, log->why_)};
  log->has_begun_ = true;
  return log;
}

audit_log::~audit_log() {
  if (!has_begun_) return;
  auto last = entry("end");
  last["calls"] = calls_;
  owed_.push_back(line_of(last));
  (void)pay(durability::now);
}

std::optional<refusal> audit_log::begins(const call_begun& call) {
  auto begun = entry("begins", call.at);
  put_begun(begun, call, network_with(call.before));
  const auto line = line_of(begun);
  const std::lock_guard held{lock_};
  if ((!owed_.empty() || is_sync_owed_) && !pay(durability::now)) {
    return not_written(path_, nothing_is_done, why_);
  }
  if (auto written = file_.append(line); !written) {
    why_ = std::move(written.error());
    return not_written(path_, nothing_is_done, why_);
  }
  ++calls_;
  return std::nullopt;
}

std::optional<refusal> audit_log::ended(const call_ended& call) {
  auto end = entry("ended");
  put_ended(end, call);
  auto line = line_of(end);
  const std::lock_guard held{lock_};
  owed_.push_back(std::move(line));
  auto when = needed_after(call);
  if (!labels_.includes(call.after)) {
    owe_taint(call.number, call.after);
    when = durability::now;
  }
  if (pay(when)) return std::nullopt;
  return not_written(path_, "no call begins before this one's end is in it", why_);
}

json audit_log::entry(std::string_view event, std::chrono::system_clock::time_point at) const {
  return audit_entry(event, session_, at);
}

decision audit_log::network_with(taint labels) const noexcept {
  return decide_network(facts_.open, facts_.present, labels);
}

void audit_log::owe_taint(std::uint64_t call, taint after) {
  auto added = entry("taint");
  put_taint(added, call, labels_, labels_ | after, network_with(labels_),
            network_with(labels_ | after));
  owed_.push_back(line_of(added));
  labels_ = labels_ | after;
}

bool audit_log::pay(durability when) {
  while (!owed_.empty()) {
    if (auto written = file_.append(owed_.front()); !written) {
      why_ = std::move(written.error());
      is_sync_owed_ = true;
      return false;
    }
    owed_.pop_front();
  }
  if (auto synced = file_.sync(is_sync_owed_ ? durability::now : when); !synced) {
    why_ = std::move(synced.error());
    is_sync_owed_ = true;
    return false;
  }
  is_sync_owed_ = false;
  return true;
}

}  // namespace pinfold::mcp
