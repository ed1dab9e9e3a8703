// `pinfold run`: one command, one folder. Text mode passes output through as it comes; --json
// prints the record.
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include "cli/commands.hpp"
#include "cli/interruption.hpp"
#include "cli/json.hpp"
#include "cli/options.hpp"
#include "cli/report.hpp"
#include "sandbox/prepare.hpp"

namespace pinfold {
namespace {

class run_subcommand : public command {
 public:
  explicit run_subcommand(CLI::App& app) {
    add_run_options(app, options_);
    shell_text_ = app.get_option("-c");
    app.add_flag("--enforced", enforced_,
                 "Say afterwards on stderr how far each part of the boundary was held (with --json "
                 "the record says it)");
    app.footer(
        "Example:\n  pinfold run --timeout 5m -- make test\n\n"
        "Exit code: the command's own; 128+N when signal N ended it; 124 time limit; 125 pinfold\n"
        "refused or failed; 126 not executable; 127 not found.");
  }

  int run(const invocation& call) override {
    const bool is_watched = !options_.bounds.json && ::isatty(STDOUT_FILENO) == 1;
    const auto bounds = limits_of(options_, is_watched ? watcher::person : watcher::program);
    if (!bounds) return usage(bounds.error());
    const auto request = request_of(options_, shell_text_->count() > 0, call);
    if (!request) return usage(request.error());
    const auto in_text =
        enforced_ ? report_form::in_text_with_enforced : report_form::in_text;
    const auto form = options_.bounds.json ? report_form::as_json : in_text;
    auto ready = prepare(*request, call);
    if (!ready) {
      return report_refusal("run", *request, std::move(ready.error()), form,
                            options_.no_sandbox ? backend_name::none : backend_name::bubblewrap);
    }
    if (options_.no_sandbox) {
      complain("run", "--no-sandbox: this command is not confined to the workspace");
    }
    return run_and_report("run", std::move(*ready), *bounds, form, record_role::run);
  }

 private:
  [[nodiscard]] std::expected<prepared_run, refusal> prepare(const run_request& request,
                                                             const invocation& call) const {
    auto who = look_at_caller(call.environment);
    if (!who) return std::unexpected{std::move(who.error())};
    if (options_.no_sandbox) return prepare_unconfined(request, *who);
    auto backend = backend_for(request, *who);
    if (!backend) return std::unexpected{std::move(backend.error())};
    return prepare_confined(request, *who, *backend);
  }

  static int usage(const std::string& why) {
    complain("run", why);
    return usage_error_of_runs;
  }

  run_options options_;
  CLI::Option* shell_text_{nullptr};
  bool enforced_{false};
};

}  // namespace

std::unique_ptr<command> make_run(CLI::App& app) {
  return std::make_unique<run_subcommand>(app);
}

}  // namespace pinfold
