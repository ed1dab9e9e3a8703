// `pinfold run`: one command, one folder. Text mode passes output through as it comes; --json
// prints the record.
#include <memory>
#include <utility>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/report.hpp"

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
    const auto asked = check_options(options_, shell_text_->count() > 0, call);
    if (!asked) return usage(asked.error());
    const auto in_text = enforced_ ? report_form::in_text_with_enforced : report_form::in_text;
    const auto form = options_.bounds.json ? report_form::as_json : in_text;
    const bool is_confined = !options_.decisions.no_sandbox;
    auto ready = make_ready(asked->request, options_.decisions, call, readiness::prepared);
    if (!ready) {
      return report_refusal("run", asked->request, std::move(ready.error()), form,
                            is_confined ? backend_name::bubblewrap : backend_name::none);
    }
    if (!is_confined) {
      complain("run", "--no-sandbox: this command is not confined to the workspace");
    }
    return run_and_report("run", std::move(*ready), asked->bounds, form, record_role::run);
  }

 private:
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
