// The options that `run`, `explain` and `gate` share, and what they become: a request and limits.
// Every value is checked before anything is looked at or started.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include <pinfold/runner/request.hpp>
#include <pinfold/sandbox/bubblewrap.hpp>

#include "cli/commands.hpp"
#include "cli/decision_options.hpp"
#include "cli/egress_options.hpp"
#include "cli/limit_options.hpp"
#include "launch/run.hpp"
#include "sandbox/prepare.hpp"

namespace CLI {
class App;
}

namespace pinfold {

/// The words as they were given.
struct bound_options {
  std::string timeout;
  std::string grace{"2s"};
  std::string max_output{"256KiB"};
  bool json{false};
  bool events{false};

  [[nodiscard]] bool is_for_a_program() const noexcept { return json || events; }
};

struct run_options {
  bound_options bounds;
  limit_options limits;
  egress_options egress;
  std::string workspace{"."};
  std::string cwd;
  std::string shell_text;
  std::string root{"host"};
  std::vector<std::string> read;
  std::vector<std::string> sockets;
  std::vector<std::string> environment;
  bool git_commit{false};
  decision_options decisions;
};

void add_bound_options(CLI::App& app, bound_options& to);
void add_run_options(CLI::App& app, run_options& to);
/// The same for a session of many commands: those of `run` but the command, where it starts and how
/// it is shown.
void add_session_options(CLI::App& app, run_options& to);
/// For those that run something; after the others.
void add_events_option(CLI::App& app, bound_options& to);

/// When no time limit was given: none for a person at a terminal, two minutes otherwise.
enum class watcher : bool { program, person };

/// The checked limits. The error is a sentence.
[[nodiscard]] std::expected<limits, std::string> limits_of(const bound_options& given,
                                                           watcher reader);

/// The same for a run, with what its processes may use.
[[nodiscard]] std::expected<limits, std::string> limits_of(const run_options& given, watcher reader);

/// The command that was asked for: the words after "--", or `bash -c TEXT`. The error is a
/// sentence.
[[nodiscard]] std::expected<std::vector<std::string>, std::string> command_of(
    const std::string& shell_text, bool has_shell_text, const invocation& call);

/// The checked request. The error is a sentence.
[[nodiscard]] std::expected<run_request, std::string> request_of(const run_options& given,
                                                                 bool has_shell_text,
                                                                 const invocation& call);
/// The same without a command.
[[nodiscard]] std::expected<run_request, std::string> request_of(const run_options& given,
                                                                 const invocation& call);

/// What `run` and `explain` were asked for, checked.
struct checked_options {
  run_request request;
  limits bounds;
};

/// The whole of the options, checked in one place. The error is a sentence.
[[nodiscard]] std::expected<checked_options, std::string> check_options(const run_options& given,
                                                                        bool has_shell_text,
                                                                        const invocation& call);

/// Whether a run that is asked for is also prepared, or only planned.
enum class readiness : bool { planned, prepared };

/// From the request to a run: with a boundary, or without one where that was asked for.
[[nodiscard]] std::expected<prepared_run, refusal> make_ready(const run_request& request,
                                                              const decision_options& given,
                                                              const invocation& call,
                                                              readiness wanted);

/// A path from the command line: "~" and "~/..." are the caller's home, as a shell writes them;
/// anything else stays. Only the runner's own options go through here, never a tool's path.
[[nodiscard]] std::string expand_home(const std::string& path,
                                      const caller_environment& environment);

}  // namespace pinfold
