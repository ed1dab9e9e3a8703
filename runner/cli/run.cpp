// `pinfold run`: one command, one folder. Text mode passes output through as it comes; --json
// prints the record.
#include <sys/stat.h>
#include <unistd.h>

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <CLI/App.hpp>

#include <pinfold/runner/worktree.hpp>

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
    add_events_option(app, options_.bounds);
    app.add_flag("--stdin", stdin_,
                 "Carry standard input to the command (default: it is empty). pinfold may read "
                 "further ahead than the command does");
    app.add_flag("--tty", tty_,
                 "Give the command a terminal of its own, for a person at this one: "
                 "pinfold run --tty -- bash. A pinfold that is killed hard cannot give yours back: "
                 "stty sane does")
        ->excludes("--json", "--events", "--stdin");
    worktree_option_ =
        app.add_option("--worktree", worktree_,
                       "Run in a git worktree of this name, cut from the workspace's HEAD; it is "
                       "removed afterwards unless something in it would be lost")
            ->type_name("NAME");
    app.footer(
        "Example:\n  pinfold run --timeout 5m -- make test\n\n"
        "Exit code: the command's own; 128+N when signal N ended it; 124 time limit; 125 pinfold\n"
        "refused or failed; 126 not executable; 127 not found.");
  }

  int run(const invocation& call) override {
    if (worktree_option_->count() > 0 && worktree_.empty()) return usage("--worktree: it is empty");
    const auto asked = check_options(options_, shell_text_->count() > 0, call);
    if (!asked) return usage(asked.error());
    auto how = manner_of(form(), record_role::run, call.environment);
    const auto attached = attached_to();
    if (!attached) return usage(attached.error());
    how.attached = *attached;
    auto request = asked->request;
    const bool is_confined = !options_.decisions.no_sandbox;
    const auto backend = is_confined ? backend_name::bubblewrap : backend_name::none;
    const auto own = own_worktree(request, call);
    if (!own) return report_refusal("run", request, own.error(), how.form, backend);
    if (*own) request.workspace = (*own)->made.path;
    auto ready = make_ready(request, options_.decisions, call, readiness::prepared);
    if (!ready) {
      auto left = *own ? std::optional{(*own)->finish()} : std::nullopt;
      return report_refusal("run", request, std::move(ready.error()), how.form, backend,
                            record_role::run, std::move(left));
    }
    if (*own) {
      ready->afterwards = [&own](run_record& record) { record.worktree = (*own)->finish(); };
    }
    if (!is_confined) {
      complain("run", "--no-sandbox: this command is not confined to the workspace");
    }
    return run_and_report("run", std::move(*ready), asked->bounds, how);
  }

 private:
  [[nodiscard]] report_form form() const {
    if (options_.bounds.json) return report_form::as_json;
    if (options_.bounds.events) return report_form::as_events;
    return enforced_ ? report_form::in_text_with_enforced : report_form::in_text;
  }

  /// A worktree that was cut for this run alone.
  struct cut_worktree {
    worktrees trees;
    worktree made;

    [[nodiscard]] finished_worktree finish() const { return trees.finish_or_keep(made); }
  };

  /// Nothing where none was asked for. `--workspace` then says whose worktree it is.
  [[nodiscard]] std::expected<std::optional<cut_worktree>, refusal> own_worktree(
      const run_request& request, const invocation& call) const {
    if (worktree_option_->count() == 0) return std::nullopt;
    auto trees = worktrees::for_caller(call.environment.entries());
    if (!trees) return std::unexpected{std::move(trees.error())};
    auto made = trees->create({.repository = request.workspace, .name = worktree_});
    if (!made) return std::unexpected{std::move(made.error())};
    return cut_worktree{std::move(*trees), std::move(*made)};
  }

  /// The error is a sentence.
  [[nodiscard]] std::expected<attachment, std::string> attached_to() const {
    if (tty_) {
      if (::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1) return attachment::terminal;
      return std::unexpected{"--tty: standard input and output are not both a terminal"};
    }
    if (!stdin_) return attachment::nothing;
    struct stat about {};
    if (::fstat(STDIN_FILENO, &about) == 0 && S_ISDIR(about.st_mode)) {
      return std::unexpected{"--stdin: standard input is a directory"};
    }
    return attachment::input;
  }

  static int usage(const std::string& why) {
    complain("run", why);
    return usage_error_of_runs;
  }

  run_options options_;
  CLI::Option* shell_text_{nullptr};
  CLI::Option* worktree_option_{nullptr};
  std::string worktree_;
  bool enforced_{false};
  bool stdin_{false};
  bool tty_{false};
};

}  // namespace

std::unique_ptr<command> make_run(CLI::App& app) {
  return std::make_unique<run_subcommand>(app);
}

}  // namespace pinfold
