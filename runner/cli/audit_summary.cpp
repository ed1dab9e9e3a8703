// From entries to rows: see audit_summary.hpp.
#include "cli/audit_summary.hpp"

#include <algorithm>
#include <optional>

#include <pinfold/path.hpp>

#include "sandbox/host_run/by_path.hpp"

namespace pinfold {
namespace {

using part = audit_summary::part;

/// Where an effect that was let through is listed; nothing for one that changes nothing.
std::optional<part> part_of(const audited_effect& one) {
  if (one.operation == "write" || one.operation == "mkdir") return part::written;
  if (one.operation == "rename") return part::moved;
  if (one.operation == "remove") return part::removed;
  return std::nullopt;
}

/// Codes of the file system, which can come when a part is done already.
bool comes_on_the_way(std::string_view why) {
  constexpr std::array<std::string_view, 5> codes{"NotEmpty", "PermissionDenied", "ResourceExhausted",
                                                  "TryAgain", "InputOutputError"};
  return std::ranges::find(codes, why) != codes.end();
}

/// Codes of a call that was wrong or of what the file system held: no rule of the session refused it.
bool is_plain_error(std::string_view why) {
  constexpr std::array<std::string_view, 16> codes{
      "AlreadyExists",     "CommandNotExecutable", "CommandNotFound", "InputOutputError",
      "InvalidArgument",   "InvalidPath",          "IsADirectory",    "NameTooLong",
      "NotADirectory",     "NotEmpty",             "NotFound",        "PermissionDenied",
      "ResourceExhausted", "SymlinkLoop",          "TryAgain",        "WorkspaceGone"};
  return std::ranges::find(codes, why) != codes.end();
}

std::string place_of(const audited_effect& one) {
  return one.canonical.empty() ? one.asked : one.canonical;
}

whereabouts lies(std::string_view workspace, const std::string& path) {
  const bool is_outside = path.starts_with('/') && !contains(workspace, path);
  return is_outside ? whereabouts::outside : whereabouts::inside;
}

whereabouts lies(std::string_view workspace, const std::string& path, const std::string& to) {
  return std::max(lies(workspace, path), lies(workspace, to));
}

std::string done_by(const std::string& operation, const audit_line& line) {
  return operation + ", by " + line.tool;
}

/// What is wrong with an argument is no operation: the tool has not begun with one.
std::string refusal_detail(const audit_line& line, std::string_view error,
                           const std::string& operation, const std::string& led_to,
                           const std::string& asked) {
  auto text = error == "InvalidArgument" ? "by " + line.tool : done_by(operation, line);
  if (!led_to.empty() && led_to != asked) text += "; it led to " + led_to;
  return text;
}

std::string run_detail(const audited_run& run) {
  std::string text;
  if (run.exit_code && run.ended == "exited") text = "exit code " + std::to_string(*run.exit_code);
  if (run.refused) text = run.refused->error;
  return text;
}

}  // namespace

void audit_list::add(std::string what, std::string name, std::string detail, const std::string& at,
                     whereabouts lies, std::uint64_t sent, std::uint64_t received) {
  total_ = saturating_sum(total_, 1);
  const auto [found, is_new] = places_.try_emplace({what, name, detail, lies}, rows_.size());
  if (is_new && rows_.size() == most_kept) {
    places_.erase(found);
    more_ = saturating_sum(more_, 1);
    total_ -= 1;
    return;
  }
  if (is_new) rows_.push_back({std::move(what), std::move(name), std::move(detail), lies, 0, at});
  auto& same = rows_[found->second];
  same.count = saturating_sum(same.count, 1);
  same.sent = saturating_sum(same.sent, sent);
  same.received = saturating_sum(same.received, received);
}

void audit_summary::add(const audit_line& line, record_place where) {
  if (line.event == audit_event::session) return begin_session(line);
  const auto found = session_places_.find(line.session);
  if (found == session_places_.end()) {
    return add_bad(where, "its session has no first entry before it");
  }
  auto& of = sessions_[found->second];
  of.last = line.at;
  switch (line.event) {
    case audit_event::session:
    case audit_event::other:
      return;
    case audit_event::begins:
      return begin_call(of, line);
    case audit_event::ended:
      return end_call(of, line);
    case audit_event::taint:
      return add_taint(line);
    case audit_event::end:
      of.has_ended = true;
      return;
  }
}

void audit_summary::finish() {
  for (const auto& [place, call] : open_) {
    list(part::unfinished).add(call.tool, call.about, "it has no end", call.at);
  }
  open_.clear();
}

void audit_summary::begin_session(const audit_line& line) {
  if (sessions_.size() == most_sessions) {
    ++more_sessions_;
    return;
  }
  session_places_.insert_or_assign(line.session, sessions_.size());
  sessions_.push_back({.id = line.session,
                       .workspace = line.workspace,
                       .mode = line.mode,
                       .gate = line.gate,
                       .commands = line.commands,
                       .first = line.at,
                       .last = line.at});
}

void audit_summary::begin_call(session& of, const audit_line& line) {
  of.calls = saturating_sum(of.calls, 1);
  if (calls_.size() < most_tools || calls_.contains(line.tool)) ++calls_[line.tool];
  if (open_.size() == audit_list::most_kept) return list(part::unfinished).add_uncounted(1);
  open_.insert_or_assign({line.session, line.call}, begun{line.tool, line.about, line.at, line.is_recursive});
}

void audit_summary::end_call(const session& of, const audit_line& line) {
  const auto found = open_.find({line.session, line.call});
  const auto about = found == open_.end() ? std::string{} : found->second.about;
  const bool is_recursive = found != open_.end() && found->second.is_recursive;
  if (found != open_.end()) open_.erase(found);
  if (line.how == "failed") {
    list(part::unfinished).add(line.tool, about, "it failed", line.at);
  }
  add_refusals(line);
  add_questions(of, line);
  for (const auto& one : line.effects) add_effect(of, line, one, is_recursive);
  if (line.run) add_run(line, *line.run, about);
}

void audit_summary::add_refused(const audit_line& line, const std::string& error,
                                const std::string& operation, const std::string& path,
                                const std::string& led_to) {
  list(is_plain_error(error) ? part::errors : part::refused)
      .add(error, path, refusal_detail(line, error, operation, led_to, path), line.at);
}

/// Each effect that was refused; and the call's own refusal, where none of them says the same.
void audit_summary::add_refusals(const audit_line& line) {
  bool is_told = false;
  for (const auto& one : line.effects) {
    if (one.verdict != "refuse") continue;
    add_refused(line, one.why, one.operation, one.asked, one.canonical);
    is_told = is_told || (line.refused && line.refused->error == one.why);
  }
  if (!line.refused || is_told) return;
  add_refused(line, line.refused->error, line.refused->operation, line.refused->path,
              line.refused->resolved);
}

/// Where the questions were not written down, an effect says at least what was approved.
void audit_summary::add_questions(const session& of, const audit_line& line) {
  auto& rows = list(part::asked);
  const auto add = [&](const std::string& answer, const std::string& operation,
                       const std::string& about, const std::string& to) {
    const bool is_place = operation != "execute" && operation != "connect";
    rows.add(answer, to.empty() ? about : about + " -> " + to, done_by(operation, line), line.at,
             is_place ? lies(of.workspace, about, to) : whereabouts::inside);
  };
  if (!line.questions) {
    for (const auto& one : line.effects) {
      if (one.verdict == "ask") add("yes", one.operation, place_of(one), one.to);
    }
    return;
  }
  for (const auto& one : *line.questions) add(one.answer, one.operation, one.about, one.to);
  rows.add_uncounted(line.more_questions);
}

void audit_summary::add_effect(const session& of, const audit_line& line, const audited_effect& one,
                               bool is_recursive) {
  const auto which = part_of(one);
  if (!which) return;
  if (one.verdict == "refuse") {
    if (*which != part::removed || !is_recursive || !comes_on_the_way(one.why)) return;
    return list(part::unsure)
        .add(one.operation, place_of(one), "refused on the way: part of what lay below may be gone",
             line.at);
  }
  const auto detail = *which == part::moved ? one.to : std::string{};
  list(*which).add(one.operation, place_of(one), detail, line.at,
                   lies(of.workspace, place_of(one), one.to));
  add_host_run(of, line, one);
}

/// What file tools put there is known by its path alone; what commands leave, the walk after them finds.
void audit_summary::add_host_run(const session& of, const audit_line& line,
                                 const audited_effect& one) {
  const bool is_moved = one.operation == "rename";
  if (!is_moved && one.operation != "write") return;
  const auto place = is_moved ? one.to : place_of(one);
  const std::string path{tail_below(of.workspace, place).value_or(place)};
  const auto kind = kind_by_path(path, is_moved ? put_there::anything : put_there::file);
  if (!kind) return;
  const auto detail = (is_moved ? "moved there by " : "written by ") + line.tool;
  list(part::host_run).add(std::string{name_of(*kind)}, path, detail, line.at);
}

void audit_summary::add_run(const audit_line& line, const audited_run& run,
                            const std::string& command) {
  list(part::commands).add(run.ended, command, run_detail(run), line.at);
  if (run.network == "on") {
    list(part::reached).add("open", "*", "the network was open: hosts are not known", line.at);
  }
  for (const auto& one : run.attempts) {
    if (one.error.empty()) {
      list(part::reached).add(one.protocol, one.host, {}, line.at, whereabouts::inside, one.sent,
                               one.received);
    } else {
      list(part::denied).add(one.error, one.host, one.protocol, line.at, whereabouts::inside, one.sent,
                              one.received);
    }
  }
  list(part::reached).add_uncounted(run.more_attempts);
  for (const auto& one : run.host_run) {
    list(part::host_run).add(one.kind, one.path, one.detail, line.at);
  }
  list(part::host_run).add_uncounted(run.more_host_run);
  if (!run.is_host_run_whole) {
    list(part::host_run).add("incomplete", "*", "the search after a command did not see all", line.at);
  }
}

void audit_summary::add_taint(const audit_line& line) {
  const bool closed_it = line.network_before == "allow" && line.network != "allow";
  const auto detail = closed_it ? "it closed the network: " + line.network_before + " -> " + line.network
                                : "the network stayed as it was: " + line.network;
  for (const auto& label : line.added) {
    list(part::tainted).add(label, "call " + std::to_string(line.call), detail, line.at);
  }
}

}  // namespace pinfold
