// CLI11 parses; this file says what is meant and what is refused.
#include "cli/options.hpp"

#include <unistd.h>

#include <string_view>
#include <utility>

#include <CLI/App.hpp>

#include "cli/text.hpp"
#include "sandbox/prepare.hpp"
#include "sandbox/probe.hpp"

namespace pinfold {
namespace {

using namespace std::chrono_literals;

constexpr auto default_limit = 120s;

environment_request parse_environment(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos) return {text, std::nullopt};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void add_times_and_output(CLI::App& app, bound_options& to, std::string_view without_timeout) {
  app.add_option("--timeout", to.timeout,
                 "End the command after this long: 30s, 500ms, 2m (default: " +
                     std::string{without_timeout} + ")")
      ->type_name("TIME");
  app.add_option("--grace", to.grace, "From SIGTERM to SIGKILL (default: 2s)")->type_name("TIME");
  app.add_option("--max-output", to.max_output,
                 "Keep this much of each stream, first and last part (default: 256KiB)")
      ->type_name("SIZE");
}

/// What a command may reach and use, whoever starts it.
void add_grant_options(CLI::App& app, run_options& to) {
  add_limit_options(app, to.limits);
  app.add_option("--workspace", to.workspace, "The one folder (default: the current directory)")
      ->type_name("DIR");
  app.add_option("--read", to.read,
                 "Show a directory of the hidden home read-only, for a toolchain; repeatable")
      ->type_name("DIR")
      ->expected(1)
      ->take_all();
  app.add_option("--allow-socket", to.sockets,
                 "Leave one socket of the host within reach: an agent, a database; repeatable")
      ->type_name("PATH")
      ->expected(1)
      ->take_all();
  app.add_option("--root", to.root,
                 "host: the machine read-only, homes hidden; minimal: only what programs need "
                 "(default: host)")
      ->check(CLI::IsMember({"host", "minimal"}));
  app.add_option("--env", to.environment,
                 "NAME passes the caller's variable, NAME=VALUE sets one; repeatable")
      ->type_name("NAME[=VALUE]")
      ->expected(1)
      ->take_all();
  app.add_flag("--git-commit", to.git_commit,
               "Let the command commit on the branch pinfold/NAME/work of the linked worktree that "
               "the workspace is; the commits are checked and imported when it has ended");
  add_decision_options(app, to.decisions);
  add_egress_options(app, to.egress);
}

}  // namespace

void add_bound_options(CLI::App& app, bound_options& to) {
  add_times_and_output(app, to, "none for a person at a terminal, else 2m");
  app.add_flag("--json", to.json, "Print the run record as one JSON object");
}

void add_session_options(CLI::App& app, run_options& to) {
  add_times_and_output(app, to.bounds, "2m");
  add_grant_options(app, to);
}

void add_events_option(CLI::App& app, bound_options& to) {
  app.add_flag("--events", to.events,
               "Print events as JSON lines while the command runs, one object a line: started, "
               "output, egress, heartbeat, ended (which holds the run record)")
      ->excludes("--json");
}

void add_run_options(CLI::App& app, run_options& to) {
  add_bound_options(app, to.bounds);
  add_grant_options(app, to);
  app.add_option("--cwd", to.cwd,
                 "Where the command starts, inside the workspace (default: its top)")
      ->type_name("DIR");
  app.add_option("-c", to.shell_text, "Run this text with bash -c, in place of -- COMMAND");
}

std::expected<limits, std::string> limits_of(const bound_options& given, watcher reader) {
  limits bounds;
  if (!given.timeout.empty()) {
    const auto time = parse_duration(given.timeout);
    if (!time) return std::unexpected{"--timeout: " + time.error()};
    bounds.time = *time;
  } else if (reader == watcher::program) {
    bounds.time = default_limit;
  }
  const auto grace = parse_duration(given.grace);
  if (!grace) return std::unexpected{"--grace: " + grace.error()};
  bounds.grace = *grace;
  const auto output = parse_size(given.max_output, output_sizes);
  if (!output) return std::unexpected{"--max-output: " + output.error()};
  bounds.output = *output;
  return bounds;
}

std::expected<limits, std::string> limits_of(const run_options& given, watcher reader) {
  auto bounds = limits_of(given.bounds, reader);
  if (!bounds || given.decisions.no_sandbox) return bounds;
  const auto resources = resource_limits_of(given.limits);
  if (!resources) return std::unexpected{resources.error()};
  bounds->resources = *resources;
  return bounds;
}

std::expected<std::vector<std::string>, std::string> command_of(const std::string& shell_text,
                                                                bool has_shell_text,
                                                                const invocation& call) {
  if (has_shell_text && call.has_dashes) {
    return std::unexpected{"give either -c TEXT or -- COMMAND, not both"};
  }
  if (has_shell_text) {
    if (shell_text.find_first_not_of(" \t\n") == std::string::npos) {
      return std::unexpected{"-c: the text is empty"};
    }
    return std::vector<std::string>{"bash", "-c", shell_text};
  }
  if (call.after_dashes.empty()) {
    return std::unexpected{"no command: give one after --, or a text for bash with -c"};
  }
  if (call.after_dashes.front().empty()) return std::unexpected{"the command's name is empty"};
  return call.after_dashes;
}

std::expected<run_request, std::string> request_of(const run_options& given, bool has_shell_text,
                                                   const invocation& call) {
  auto command = command_of(given.shell_text, has_shell_text, call);
  if (!command) return std::unexpected{std::move(command.error())};
  auto request = request_of(given, call);
  if (request) request->command = std::move(*command);
  return request;
}

std::expected<run_request, std::string> request_of(const run_options& given,
                                                   const invocation& call) {
  run_request request;
  request.workspace = expand_home(given.workspace, call.environment);
  request.directory = given.cwd;
  if (request.workspace.empty()) return std::unexpected{"--workspace: the path is empty"};
  for (const auto& path : given.read) {
    request.read_roots.push_back(expand_home(path, call.environment));
  }
  for (const auto& path : given.sockets) {
    request.sockets.push_back(expand_home(path, call.environment));
  }
  for (const auto& one : given.environment) {
    request.environment.push_back(parse_environment(one));
  }
  request.git_commit = given.git_commit;
  request.root = given.root == "minimal" ? root_profile::minimal : root_profile::host;
  auto egress = egress_request_of(given.egress);
  if (!egress) return std::unexpected{std::move(egress.error())};
  request.egress = std::move(*egress);
  if (auto decided = decide_into(request, given.decisions, call.environment); !decided) {
    return std::unexpected{std::move(decided.error())};
  }
  if (given.decisions.no_sandbox && is_any_given(given.limits)) {
    return std::unexpected{"limits of memory, processes, processor time and files cannot be held "
                           "without a sandbox"};
  }
  const auto tmp_size = tmp_size_of(given.limits);
  if (!tmp_size) return std::unexpected{tmp_size.error()};
  request.tmp_size = *tmp_size;
  return request;
}

std::expected<checked_options, std::string> check_options(const run_options& given,
                                                          bool has_shell_text,
                                                          const invocation& call) {
  const bool is_watched = !given.bounds.is_for_a_program() && ::isatty(STDOUT_FILENO) == 1;
  const auto bounds = limits_of(given, is_watched ? watcher::person : watcher::program);
  if (!bounds) return std::unexpected{bounds.error()};
  auto request = request_of(given, has_shell_text, call);
  if (!request) return std::unexpected{std::move(request.error())};
  return checked_options{std::move(*request), *bounds};
}

std::expected<prepared_run, refusal> make_ready(const run_request& request,
                                                const decision_options& given,
                                                const invocation& call, readiness wanted) {
  const auto who = look_at_caller(call.environment);
  if (!who) return std::unexpected{who.error()};
  if (given.no_sandbox) return prepare_unconfined(request, *who);
  const auto backend = backend_for(request, *who);
  if (!backend) return std::unexpected{backend.error()};
  return wanted == readiness::planned ? plan_confined(request, *who, *backend)
                                      : prepare_confined(request, *who, *backend);
}

std::string expand_home(const std::string& path, const caller_environment& environment) {
  const bool is_home = path == "~" || path.starts_with("~/");
  const auto home = environment.find("HOME");
  if (!is_home || !home) return path;
  return std::string{*home} + path.substr(1);
}

}  // namespace pinfold
