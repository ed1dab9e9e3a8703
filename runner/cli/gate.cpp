// `pinfold gate`: the repository's own checks and publishing, outside the sandbox on purpose and by
// name, with the same bounds on time, output and processes.
#include <unistd.h>

#include <memory>

#include <CLI/App.hpp>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/report.hpp"
#include "sandbox/prepare.hpp"

namespace pinfold {
namespace {

class gate_subcommand : public command {
 public:
  explicit gate_subcommand(CLI::App& app) {
    add_bound_options(app, bounds_);
    app.add_option("--workspace", workspace_,
                   "Where the gate runs (default: the current directory)")
        ->type_name("DIR");
    app.add_flag("--workspace-bin", workspace_bin_, "Put the workspace's .local/bin first in PATH");
    add_events_option(app, bounds_);
    app.footer(
        "A gate is not confined: it runs with your own environment and credentials, and it runs\n"
        "code that an agent may have written.\n\n"
        "Example:\n  pinfold gate --timeout 10m -- make check");
  }

  int run(const invocation& call) override {
    const auto how = manner_of(form(), record_role::gate, call.environment);
    const bool is_watched = !bounds_.is_for_a_program() && ::isatty(STDOUT_FILENO) == 1;
    const auto bounds = limits_of(bounds_, is_watched ? watcher::person : watcher::program);
    if (!bounds) return usage(bounds.error());
    auto words = command_of({}, false, call);
    if (!words) return usage(words.error());
    run_request request;
    request.command = std::move(*words);
    request.workspace = expand_home(workspace_, call.environment);
    request.open = gate::on;
    auto ready =
        prepare_gate(request, call.environment,
                     workspace_bin_ ? workspace_tools::first_in_path : workspace_tools::left_out);
    if (!ready) {
      return report_refusal("gate", request, std::move(ready.error()), how.form, backend_name::none,
                            record_role::gate);
    }
    return run_and_report("gate", std::move(*ready), *bounds, how);
  }

 private:
  [[nodiscard]] report_form form() const {
    if (bounds_.json) return report_form::as_json;
    return bounds_.events ? report_form::as_events : report_form::in_text;
  }

  static int usage(const std::string& why) {
    complain("gate", why);
    return usage_error_of_runs;
  }

  bound_options bounds_;
  std::string workspace_{"."};
  bool workspace_bin_{false};
};

}  // namespace

std::unique_ptr<command> make_gate(CLI::App& app) {
  return std::make_unique<gate_subcommand>(app);
}

}  // namespace pinfold
