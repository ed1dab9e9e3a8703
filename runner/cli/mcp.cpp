// `pinfold mcp`: the server of the Model Context Protocol on standard input and output. What a client
// may do is what these options say; nothing that it sends widens it.
#include <unistd.h>

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/App.hpp>

#include "cli/audit_place.hpp"
#include "cli/commands.hpp"
#include "cli/interruption.hpp"
#include "cli/options.hpp"
#include "cli/text.hpp"
#include "mcp/server.hpp"
#include "sandbox/places.hpp"
#include "sandbox/prepare.hpp"

namespace pinfold {
namespace {

constexpr int killed_by = 128;
/// A result holds both streams, and is one message.
constexpr std::size_t most_output = std::size_t{1} << 20;

std::vector<mcp::tool> tools_for(const mcp::session& now) {
  auto all = mcp::file_tools(now);
  all.insert(all.begin(), mcp::bash_tool(now));
  return all;
}

void add_label_option(CLI::App& app, const char* name, std::string& to, const char* help) {
  app.add_option(name, to, help)
      ->check(CLI::IsMember({"none", "untrusted_content", "private_data", "both"}));
}

taint labels_from(const std::string& word) {
  if (word == "none") return {};
  return parse_label(word).value_or(taint::both);
}

/// The workspace and the read roots as they will be used, or why they may not be.
std::expected<void, refusal> settle_places(run_request& request, const caller& who,
                                           mcp::commands boundary) {
  if (boundary == mcp::commands::confined) {
    auto workspace = confined_workspace(request, who);
    if (!workspace) return std::unexpected{std::move(workspace.error())};
    request.workspace = std::move(*workspace);
  }
  const auto hidden = hidden_places(who);
  for (auto& path : request.read_roots) {
    auto shown = read_root(path, who, hidden);
    if (!shown) return std::unexpected{std::move(shown.error())};
    path = std::move(shown->source);
  }
  return {};
}

/// What would let commands run, after why none could.
std::string advice_about(const run_options& options, const refusal& why) {
  const std::string none = "; so no command could run: ";
  const bool wants_no_network = why.path == "network off";
  if (options.decisions.no_sandbox && wants_no_network) {
    return none + "start it with --gate on, or without --no-sandbox";
  }
  if (options.decisions.no_sandbox) return none + "leave that out, or --no-sandbox";
  if (options.git_commit) return none + "start it in such a worktree, or without --git-commit";
  return none + "start it without what asks for that";
}

class mcp_subcommand : public command {
 public:
  explicit mcp_subcommand(CLI::App& app) {
    add_session_options(app, options_);
    add_label_option(app, "--taint-on-network", on_network_,
                     "What a command takes in that had the network: none, untrusted_content, "
                     "private_data, both (default: untrusted_content)");
    add_label_option(app, "--taint-on-read-outside", on_read_outside_,
                     "What reading a file outside the workspace takes in (default: private_data)");
    app.add_option("--audit", audit_,
                   "Append what every call asked for and did to this file, for `pinfold audit`: outside "
                   "of the workspace; what cannot be written there is not done")
        ->type_name("FILE");
    app.footer(
        "Speaks the Model Context Protocol on standard input and output, and on nothing else. A\n"
        "client may ask for less than these options say, never for more.\n\n"
        "Example:\n  pinfold mcp --workspace ~/src/app --gate untainted\n\n"
        "Exit code: 0 when the client closed its end; 2 for bad usage, a workspace that cannot be\n"
        "used and options under which no command could run; 128+N when signal N ended it.");
  }

  int run(const invocation& call) override {
    auto settings = settings_of(call);
    if (!settings) return refuse(settings.error());
    const auto who = look_at_caller(call.environment);
    if (!who) return refuse(who.error());
    if (const auto settled = settle_places(settings->defaults, *who, settings->boundary); !settled) {
      return refuse(settled.error());
    }
    if (const auto why = why_no_command_runs(*settings, call)) return refuse(*why);
    auto launcher = runner::for_caller(call.environment.entries());
    if (!launcher) return refuse(launcher.error());
    auto session = mcp::session::open(std::move(*settings), std::move(*launcher));
    if (!session) return refuse(session.error());
    std::unique_ptr<mcp::audit_log> log;
    if (!audit_.empty()) {
      auto begun = begin_audit_log(expand_home(audit_, call.environment), **session, *who);
      if (!begun) return refuse(begun.error());
      log = std::move(*begun);
      auto kept = mcp::kept_file::at(expand_home(audit_, call.environment));
      if (!kept) return refuse("--audit: it is not where it was opened: " + std::string{sentence_for(kept.error())});
      (*session)->keep(std::move(*kept));
    }
    const interruption interrupted;
    mcp::server{**session,
                &tools_for,
                {.input = STDIN_FILENO,
                 .output = STDOUT_FILENO,
                 .ending = interrupted.readable_descriptor()},
                log.get()}
        .serve();
    return interruption::signal() == 0 ? 0 : killed_by + interruption::signal();
  }

 private:
  /// The error is a sentence.
  [[nodiscard]] std::expected<mcp::session_settings, std::string> settings_of(
      const invocation& call) const {
    auto request = request_of(options_, call);
    if (!request) return std::unexpected{std::move(request.error())};
    const auto bounds = limits_of(options_, watcher::program);
    if (!bounds) return std::unexpected{bounds.error()};
    if (bounds->output > most_output) {
      return std::unexpected{"--max-output: at most " + readable_size(most_output) +
                             " of each stream fit into one answer"};
    }
    return mcp::session_settings{.defaults = std::move(*request),
                                 .bounds = *bounds,
                                 .boundary = options_.decisions.no_sandbox
                                                 ? mcp::commands::unconfined_by_request
                                                 : mcp::commands::confined,
                                 .on_network = labels_from(on_network_),
                                 .on_read_outside = labels_from(on_read_outside_)};
  }

  /// What `run` refuses with these options, before a client counts on it. Nothing is kept of the command
  /// that is planned for it. Not a machine that has no sandbox: file tools need none, and each command says
  /// so; nor what a person or another mode decides about commands without one.
  [[nodiscard]] std::optional<refusal> why_no_command_runs(const mcp::session_settings& settings,
                                                           const invocation& call) const {
    auto request = settings.defaults;
    request.command = {"bash", "-c", "true"};
    if (settings.boundary != mcp::commands::confined) request.present = mode::autonomous;
    const auto ready = make_ready(request, options_.decisions, call, readiness::planned);
    if (ready || ready.error().error == code::sandbox_unavailable) return std::nullopt;
    auto why = ready.error();
    why.detail += advice_about(options_, why);
    return why;
  }

  template <class Why>
  static int refuse(const Why& why) {
    complain("mcp", why);
    return usage_error;
  }

  run_options options_;
  std::string on_network_{"untrusted_content"};
  std::string on_read_outside_{"private_data"};
  std::string audit_;
};

}  // namespace

std::unique_ptr<command> make_mcp(CLI::App& app) {
  return std::make_unique<mcp_subcommand>(app);
}

}  // namespace pinfold
