// `pinfold explain`: what `run` would do with the same options, as an argument vector and in words.
// It starts nothing and makes nothing.
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/App.hpp>
#include <nlohmann/json.hpp>
#include <pinfold/describe.hpp>

#include "cli/claims.hpp"
#include "cli/commands.hpp"
#include "cli/egress_report.hpp"
#include "json/json.hpp"
#include "cli/limits_report.hpp"
#include "cli/options.hpp"
#include "cli/text.hpp"
#include "sandbox/git_place.hpp"
#include "sandbox/prepare.hpp"

namespace pinfold {
namespace {

/// What a mount means to a person. Ordered as the table is printed.
enum class meaning : std::uint8_t { writable, read_only, hidden, scratch, socket, internal };

meaning meaning_of(const mount& one) {
  switch (one.role) {
    case mount_role::scratch:
      return one.kind == mount_kind::tmpfs ? meaning::scratch : meaning::internal;
    case mount_role::hidden:
      return one.kind == mount_kind::remount_ro ? meaning::internal : meaning::hidden;
    case mount_role::carve_out:
      if (one.kind == mount_kind::remount_ro) return meaning::internal;
      return one.source == one.target ? meaning::read_only : meaning::hidden;
    case mount_role::root:
      return one.kind == mount_kind::remount_ro ? meaning::internal : meaning::read_only;
    case mount_role::system:
    case mount_role::pinned:
      return meaning::internal;
    case mount_role::replaced:
      return one.kind == mount_kind::bind ? meaning::writable : meaning::internal;
    case mount_role::socket:
      return meaning::socket;
    case mount_role::shared:
    case mount_role::workspace:
      return one.kind == mount_kind::bind ? meaning::writable : meaning::read_only;
  }
  return meaning::internal;
}

struct row {
  meaning what;
  std::string_view title;
};

constexpr std::array rows{row{meaning::writable, "writable"}, row{meaning::read_only, "read-only"},
                          row{meaning::hidden, "hidden"},
                          row{meaning::scratch, "empty, gone afterwards"},
                          row{meaning::socket, "sockets within reach"}};

std::string_view name_of(mount_kind kind) {
  switch (kind) {
    case mount_kind::bind:
      return "bind";
    case mount_kind::ro_bind:
      return "ro_bind";
    case mount_kind::tmpfs:
      return "tmpfs";
    case mount_kind::proc:
      return "proc";
    case mount_kind::dev:
      return "dev";
    case mount_kind::directory:
      return "directory";
    case mount_kind::symbolic_link:
      return "symbolic_link";
    case mount_kind::remount_ro:
      return "remount_ro";
  }
  return "bind";
}

reach reach_of(const launch_plan& plan) {
  if (!plan.egress.empty()) return reach::listed;
  return plan.network == network_access::on ? reach::network : reach::offline;
}

std::string_view network_word(const launch_plan& plan) {
  if (!plan.egress.empty()) return "list";
  return plan.network == network_access::on ? "on" : "off";
}

/// The situation of a plan, for the engine's sentences.
situation situation_of(const prepared_run& planned, const run_request& request) {
  return {.backend = planned.plan.backend,
          .root = request.root,
          .network = reach_of(planned.plan),
          .caches = planned.decided.caches};
}

/// Of a place that is shown under another name, both.
std::vector<std::string> places_of(const launch_plan& plan, meaning what) {
  std::vector<std::string> places;
  for (const auto& one : plan.mounts) {
    if (meaning_of(one) != what) continue;
    const bool may_be_elsewhere =
        one.role == mount_role::shared || one.role == mount_role::replaced;
    const bool is_elsewhere = may_be_elsewhere && one.source != one.target;
    places.push_back(is_elsewhere ? one.target + " (" + one.source + ")" : one.target);
  }
  return places;
}

std::string network_line(const prepared_run& planned) {
  std::string text = planned.plan.network == network_access::on
                         ? "on: every address the machine reaches"
                         : "off: no route, no resolver";
  if (planned.egress) text = "list: no route, no resolver; what is on the list through a proxy";
  if (planned.decided.network == decision::ask) {
    text += "; a person may open it: until then, ask counts as no";
  }
  return text;
}

/// The branch that the command may commit on, or nothing.
std::string branch_of(const prepared_run& planned) {
  if (!planned.committing) return {};
  return planned.committing->ground.branch.substr(std::string_view{"refs/heads/"}.size());
}

/// What git does inside, in one sentence; empty where there is nothing to say.
std::string git_line(const prepared_run& planned, const run_request& request) {
  const auto& plan = planned.plan;
  if (plan.backend == backend_name::none) return {};
  const sandbox_view view{.hidden = places_of(plan, meaning::hidden),
                          .is_minimal = request.root == root_profile::minimal,
                          .is_read_only = planned.decided.present == mode::plan,
                          .branch = branch_of(planned)};
  return what_git_can_do(find_repository(plan.workspace, view), view);
}

std::string taint_line(taint labels) {
  std::string text;
  for (const auto& one : taint_labels) {
    if (!labels.includes(one.label)) continue;
    if (!text.empty()) text += ", ";
    text += one.name;
  }
  return text.empty() ? "none" : text;
}

std::string cache_line(const prepared_run& planned) {
  switch (planned.decided.caches) {
    case cache_choice::none:
      return "none kept: empty, gone afterwards";
    case cache_choice::own:
      return planned.decided.cache_directory;
    case cache_choice::shared:
      return "shared: your own, a way from one workspace to the next";
  }
  return {};
}

class table {
 public:
  void line(std::string_view title, std::string_view value) {
    text_ += std::string{title} + std::string(title.size() < 24 ? 24 - title.size() : 1, ' ') +
             terminal_safe(value) + "\n";
  }
  /// The title once, the values below each other.
  template <class Values>
  void lines(std::string_view title, const Values& values) {
    for (const auto& value : values) {
      line(title, value);
      title = "";
    }
  }
  std::string take() && { return std::move(text_); }

 private:
  std::string text_;
};

bounds_report bounds_of(const prepared_run& planned, const checked_options& asked) {
  return look_at_bounds(planned, asked.bounds, asked.request.blob_most);
}

std::string table_of(const prepared_run& planned, const checked_options& asked) {
  const auto& plan = planned.plan;
  table text;
  text.line("backend", name_of(plan.backend));
  text.line("mode", name_of(planned.decided.present));
  text.line("starts in", plan.directory);
  for (const auto& [what, title] : rows) text.lines(title, places_of(plan, what));
  text.line("gate", name_of(planned.decided.open));
  text.line("taint", taint_line(planned.decided.before));
  text.line("network", network_line(planned));
  for (const auto& one : egress_lines(planned, asked.request.egress)) {
    text.line(one.title, one.value);
  }
  if (const auto git = git_line(planned, asked.request); !git.empty()) text.line("git", git);
  text.line("cache", cache_line(planned));
  if (planned.blobs) {
    text.line("whole outputs", planned.blobs->path);
    text.line("", "at most " + readable_size(asked.request.blob_most) + " of each");
  }
  for (const auto& one : lines_of(bounds_of(planned, asked))) text.line(one.title, one.value);
  text.lines("environment", plan.environment);
  const auto now = situation_of(planned, asked.request);
  return std::move(text).take() + "\n" + listed("promised", promised_in(now)) +
         listed("not promised", not_promised_in(now));
}

json mounts_of(const launch_plan& plan) {
  auto all = json::array();
  for (const auto& one : plan.mounts) {
    json entry;
    entry["kind"] = name_of(one.kind);
    put_bytes(entry, "source", one.source);
    put_bytes(entry, "target", one.target);
    all.push_back(std::move(entry));
  }
  return all;
}

json object_of(const prepared_run& planned, const checked_options& asked) {
  const auto& plan = planned.plan;
  json object;
  object["backend"] = name_of(plan.backend);
  const auto list = [](const std::vector<std::string>& texts) {
    json all = json::array();
    for (const auto& text : texts) all.push_back(text);
    return all;
  };
  object["argv"] = list(standalone_argv(plan));
  put_bytes(object, "workspace", plan.workspace);
  put_bytes(object, "directory", plan.directory);
  object["network"] = network_word(plan);
  object["egress"] = egress_plan_json(planned);
  put_decisions(object, planned.decided);
  object["git"] = git_line(planned, asked.request);
  object["environment"] = list(plan.environment);
  object["mounts"] = mounts_of(plan);
  object["limits"] = json_of(bounds_of(planned, asked));
  const auto now = situation_of(planned, asked.request);
  object["promised"] = listed_json(promised_in(now));
  object["not_promised"] = listed_json(not_promised_in(now));
  return object;
}

class explain_subcommand : public command {
 public:
  explicit explain_subcommand(CLI::App& app) {
    add_run_options(app, options_);
    app.get_option("--json")->description("Print the plan as one JSON object");
    shell_text_ = app.get_option("-c");
    app.footer(
        "Starts nothing. The first line can be run in a shell as it stands: bubblewrap alone, without the\n"
        "filter, the proofs and the limits that `run` adds, and what it makes in the workspace stays.\n\n"
        "Example:\n  pinfold explain -- make test");
  }

  int run(const invocation& call) override {
    const auto asked = check_options(options_, shell_text_->count() > 0, call);
    if (!asked) return usage(asked.error());
    const auto planned = make_ready(asked->request, options_.decisions, call, readiness::planned);
    if (!planned) {
      complain("explain", planned.error());
      return usage_error_of_runs;
    }
    const auto text = options_.bounds.json ? one_line(object_of(*planned, *asked))
                                           : shell_join(standalone_argv(planned->plan)) + "\n\n" +
                                                 table_of(*planned, *asked);
    return write_all(STDOUT_FILENO, text) ? 0 : usage_error_of_runs;
  }

 private:
  static int usage(const std::string& why) {
    complain("explain", why);
    return usage_error_of_runs;
  }

  run_options options_;
  CLI::Option* shell_text_{nullptr};
};

}  // namespace

std::unique_ptr<command> make_explain(CLI::App& app) {
  return std::make_unique<explain_subcommand>(app);
}

}  // namespace pinfold
