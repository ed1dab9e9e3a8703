// `pinfold explain`: what `run` would do with the same options, as an argument vector and in words.
// It starts nothing and makes nothing.
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/options.hpp"
#include "cli/text.hpp"
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

std::string table_of(const launch_plan& plan, const limits& bounds) {
  std::string text;
  const auto line = [&text](std::string_view title, std::string_view value) {
    text += std::string{title} + std::string(title.size() < 24 ? 24 - title.size() : 1, ' ') +
            terminal_safe(value) + "\n";
  };
  line("backend", name_of(plan.backend));
  line("starts in", plan.directory);
  for (const auto& [what, title] : rows) {
    std::string_view shown = title;
    for (const auto& one : plan.mounts) {
      if (meaning_of(one) != what) continue;
      line(shown, one.target);
      shown = "";
    }
  }
  line("network", plan.network == network_access::on ? "on: every address the machine reaches"
                                                     : "off: no route, no resolver");
  line("time limit", bounds.time ? std::to_string(bounds.time->count()) + " ms" : "none");
  line("grace", std::to_string(bounds.grace.count()) + " ms from SIGTERM to SIGKILL");
  const auto& resources = bounds.resources;
  if (resources.memory) line("memory limit", readable_size(*resources.memory));
  if (resources.processes) line("process limit", std::to_string(*resources.processes));
  if (resources.cpu_time) {
    line("processor time limit", std::to_string(resources.cpu_time->count()) + " ms");
  }
  if (resources.file_size) line("file size limit", readable_size(*resources.file_size));
  line("output kept", readable_size(bounds.output) + " of each stream");
  std::string_view title = "environment";
  for (const auto& entry : plan.environment) {
    line(title, entry);
    title = "";
  }
  return text;
}

json object_of(const launch_plan& plan, const limits& bounds) {
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
  object["network"] = plan.network == network_access::on ? "on" : "off";
  object["environment"] = list(plan.environment);
  object["mounts"] = json::array();
  for (const auto& one : plan.mounts) {
    json entry;
    entry["kind"] = name_of(one.kind);
    put_bytes(entry, "source", one.source);
    put_bytes(entry, "target", one.target);
    object["mounts"].push_back(std::move(entry));
  }
  object["limits"]["time_ms"] = bounds.time ? json(bounds.time->count()) : json(nullptr);
  const auto& resources = bounds.resources;
  const auto number = [](const auto& limit) { return limit ? json(*limit) : json(nullptr); };
  object["limits"]["memory_bytes"] = number(resources.memory);
  object["limits"]["processes"] = number(resources.processes);
  object["limits"]["cpu_time_ms"] =
      resources.cpu_time ? json(resources.cpu_time->count()) : json(nullptr);
  object["limits"]["file_size_bytes"] = number(resources.file_size);
  object["limits"]["grace_ms"] = bounds.grace.count();
  object["limits"]["output_bytes"] = bounds.output;
  return object;
}

class explain_subcommand : public command {
 public:
  explicit explain_subcommand(CLI::App& app) {
    add_run_options(app, options_);
    shell_text_ = app.get_option("-c");
    app.footer(
        "Starts nothing. The first line can be run in a shell as it stands.\n\n"
        "Example:\n  pinfold explain -- make test");
  }

  int run(const invocation& call) override {
    const bool is_watched = !options_.bounds.json && ::isatty(STDOUT_FILENO) == 1;
    const auto bounds = limits_of(options_, is_watched ? watcher::person : watcher::program);
    if (!bounds) return usage(bounds.error());
    const auto request = request_of(options_, shell_text_->count() > 0, call);
    if (!request) return usage(request.error());
    const auto plan = plan_for(*request, call);
    if (!plan) {
      complain("explain", plan.error());
      return usage_error_of_runs;
    }
    const auto text = options_.bounds.json
                          ? one_line(object_of(*plan, *bounds))
                          : shell_join(standalone_argv(*plan)) + "\n\n" + table_of(*plan, *bounds);
    return write_all(STDOUT_FILENO, text) ? 0 : usage_error_of_runs;
  }

 private:
  [[nodiscard]] std::expected<launch_plan, refusal> plan_for(const run_request& request,
                                                             const invocation& call) const {
    auto who = look_at_caller(call.environment);
    if (!who) return std::unexpected{std::move(who.error())};
    if (options_.no_sandbox) {
      auto ready = prepare_unconfined(request, *who);
      if (!ready) return std::unexpected{std::move(ready.error())};
      return std::move(ready->plan);
    }
    auto backend = backend_for(request, *who);
    if (!backend) return std::unexpected{std::move(backend.error())};
    return plan_confined(request, *who, *backend);
  }

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
