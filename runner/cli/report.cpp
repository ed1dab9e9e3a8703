// In text mode the command's output is the program's output; everything that pinfold has to say
// goes to stderr, one line for each thing.
#include "cli/report.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <pinfold/runner/runner.hpp>

#include "cli/commands.hpp"
#include "cli/events.hpp"
#include "cli/interruption.hpp"
#include "cli/line.hpp"
#include "cli/live.hpp"
#include "cli/text.hpp"
#include "json/utf8.hpp"
#include "launch/cgroup/leaf.hpp"

namespace pinfold {
namespace {

constexpr int killed_by = 128;

/// What was not passed through live: the last part, after a line that says what is missing.
void write_tail(stream which, const captured_output& output) {
  std::string_view tail = output.text;
  tail.remove_prefix(output.head);
  std::string text = output.clipped() ? left_out_marker(output.dropped) : std::string{};
  text += tail;
  (void)write_all(descriptor_of(which), text);
}

std::string count_of(unsigned number, std::string_view thing) {
  return std::to_string(number) + " " + std::string{thing} + (number == 1 ? "" : "es");
}

void tell_ending(std::string_view what, const run_record& record, const limits& bounds) {
  const auto left = record.killed > 0 ? "; " + count_of(record.killed, "process") + " killed" : "";
  switch (record.ended) {
    case ending::timed_out:
      complain(what, "timed out after " + std::to_string(bounds.time->count()) + " ms" + left);
      break;
    case ending::limited:
      complain(what, "ended at its limit: " +
                         std::string{record.limit ? name_of(*record.limit) : "unknown"} + left);
      break;
    case ending::cancelled:
      complain(what, "interrupted; the command was ended" + left);
      break;
    case ending::exited:
    case ending::signaled:
      if (record.limit) {
        complain(what, "the command met a limit: " + std::string{name_of(*record.limit)});
      }
      if (record.killed > 0) {
        complain(what,
                 count_of(record.killed, "process") + " left behind by the command and killed");
      }
      break;
    case ending::refused:
    case ending::failed:
      break;
  }
  if (record.error) complain(what, *record.error);
}

void tell_blob(std::string_view what, std::string_view stream,
               const std::optional<kept_blob>& blob) {
  if (!blob) return;
  std::string text{stream};
  if (!blob->path.empty()) {
    text += (blob->is_whole ? ": all of it is in " : ": its beginning is in ") +
            terminal_safe(blob->path);
  }
  if (!blob->error.empty()) text += ": not all of it could be kept: " + blob->error;
  complain(what, text);
}

/// One line for each property, in columns.
void tell_enforced(std::string_view what, const run_record& record) {
  std::size_t widest = 0;
  for (const auto& one : record.enforced) widest = std::max(widest, one.name.size());
  for (const auto& one : record.enforced) {
    const std::string held{name_of(one.held)};
    complain(what, one.name + std::string(widest - one.name.size() + 2, ' ') + held +
                       std::string(9 - held.size(), ' ') + one.reason);
  }
}

void tell_host_run(std::string_view what, const host_run_report& report) {
  for (const auto& file : report.found) {
    auto line = "for a program of the host to run or obey later (" +
                std::string{name_of(file.kind)} + "): " + file.path;
    if (!file.detail.empty()) line += " (" + file.detail + ")";
    complain(what, line);
  }
  if (report.more > 0) complain(what, "and " + std::to_string(report.more) + " more such files");
  if (report.ended != walk_end_reason::seen_all) {
    complain(what, "not all of the workspace was looked at for such files: " +
                       std::string{report.ended == walk_end_reason::budget
                                       ? "it holds too many entries"
                                       : "a directory could not be read"});
  }
}

/// Each refusal once; a client that tries again and again is no news.
void tell_egress(std::string_view what, const egress_report& report) {
  constexpr std::size_t most = 10;
  std::vector<std::string> told;
  for (const auto& one : report.attempts) {
    if (!one.refused) continue;
    auto text = one.refused->message();
    if (std::ranges::find(told, text) != told.end()) continue;
    if (told.size() == most) return complain(what, "and more refused connections");
    complain(what, *one.refused);
    told.push_back(std::move(text));
  }
}

void tell_worktree(std::string_view what, const finished_worktree& finished) {
  std::string_view text = finished.summary;
  while (!text.empty()) {
    const auto end = text.find('\n');
    complain(what, text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
}

void tell_commits(std::string_view what, const git_commit_report& report) {
  auto text = report.branch + ": ";
  switch (report.ended) {
    case commits_end::nothing_new:
      text += "no new commits";
      break;
    case commits_end::imported:
      text += std::to_string(report.commits) + (report.commits == 1 ? " commit" : " commits") +
              " imported, now at " + report.after;
      if (report.is_rewritten) text += "; without " + report.before + ", which it replaces";
      break;
    case commits_end::refused:
    case commits_end::failed:
      text += "commits were not imported";
      break;
  }
  if (!report.reason.empty()) text += ": " + report.reason;
  if (!report.kept.empty()) text += "; they are kept in " + report.kept;
  complain(what, terminal_safe(text));
}

void tell_in_text(std::string_view what, const run_record& record, const limits& bounds) {
  tell_ending(what, record, bounds);
  tell_blob(what, "stdout", record.out_blob);
  tell_blob(what, "stderr", record.err_blob);
  if (record.egress) tell_egress(what, *record.egress);
  if (record.host_run) tell_host_run(what, *record.host_run);
  if (record.commits) tell_commits(what, *record.commits);
  if (record.worktree) tell_worktree(what, *record.worktree);
}

int exit_code_for(const run_record& record) {
  if (record.ended == ending::cancelled && interruption::signal() != 0) {
    return killed_by + interruption::signal();
  }
  return exit_code_of(record);
}

}  // namespace

manner manner_of(report_form form, record_role role, const caller_environment& environment) {
  return {.form = form,
          .role = role,
          .attached = attachment::nothing,
          .term = std::string{environment.find("TERM").value_or("")},
          .no_color = std::string{environment.find("NO_COLOR").value_or("")}};
}

int run_and_report(std::string_view what, prepared_run ready, const limits& bounds,
                   const manner& how) {
  const interruption interrupted;
  // This process is ours alone, so it may make room for the cgroups of its runs.
  const bool is_confined = ready.plan.backend != backend_name::none;
  const auto wanted = is_confined ? controllers::for_limits(bounds.resources) : controllers{};
  const auto leaf = cgroup_leaf::enter(ready.extras.cgroups, wanted);
  const auto record = run_live(std::move(ready), bounds, how, interrupted);
  switch (how.form) {
    case report_form::as_json:
      (void)write_line(STDOUT_FILENO, to_json(record, how.role));
      break;
    case report_form::as_events:
      break;
    case report_form::in_text:
    case report_form::in_text_with_enforced:
      if (how.attached != attachment::terminal) {
        write_tail(stream::out, record.out);
        write_tail(stream::err, record.err);
      }
      tell_in_text(what, record, bounds);
      if (how.form == report_form::in_text_with_enforced) tell_enforced(what, record);
      break;
  }
  return exit_code_for(record);
}

int report_refusal(std::string_view what, const run_request& request, refusal refused,
                   report_form form, backend_name asked, record_role role,
                   std::optional<finished_worktree> worktree) {
  const bool is_text = form != report_form::as_json && form != report_form::as_events;
  if (is_text) complain(what, refused);
  if (is_text && worktree) tell_worktree(what, *worktree);
  auto record = refused_record(request, std::move(refused), asked);
  record.worktree = std::move(worktree);
  const auto put = [](const json& object) { (void)write_line(STDOUT_FILENO, object); };
  if (form == report_form::as_json) put(to_json(record, role));
  if (form == report_form::as_events) event_writer{put}.ended(record, role);
  return exit_code_of(record);
}

}  // namespace pinfold
