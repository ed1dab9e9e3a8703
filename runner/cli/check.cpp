// `pinfold check`: where paths lead, by the resolver that every tool call goes through.
#include <sys/stat.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <CLI/App.hpp>
#include <nlohmann/json.hpp>

#include <pinfold/disk/resolve.hpp>
#include <pinfold/guard.hpp>

#include "cli/commands.hpp"
#include "json/json.hpp"
#include "cli/options.hpp"
#include "cli/text.hpp"
#include "sandbox/tool_carve_outs.hpp"

namespace pinfold {
namespace {

operation operation_of(const std::string& word) {
  if (word == "write") return operation::write;
  return word == "mkdir" ? operation::make_directory : operation::read;
}

call call_of(operation wanted, std::string_view canonical) {
  if (wanted == operation::write) return call::write(canonical);
  return wanted == operation::make_directory ? call::make_directory(canonical)
                                             : call::read(canonical);
}

class check_subcommand : public command {
 public:
  explicit check_subcommand(CLI::App& app) {
    app.add_option("operation", operation_, "read, write or mkdir")
        ->required()
        ->check(CLI::IsMember({"read", "write", "mkdir"}));
    app.add_option("path", paths_,
                   "Paths as a tool would name them; after -- they may begin with -")
        ->type_name("PATH");
    app.add_option("--workspace", workspace_, "The one folder (default: the current directory)")
        ->type_name("DIR");
    app.add_option("--cwd", cwd_, "Where relative paths begin (default: the workspace)")
        ->type_name("DIR");
    add_mode_option(app, mode_);
    app.add_flag("--json", json_, "Print one JSON object a line");
    app.footer(
        "Example:\n  pinfold check write src/main.c ../app-old/x\n\n"
        "Exit code: 0 when every path is inside the grant, 1 when one is not, 2 for bad usage.");
  }

  int run(const invocation& call) override {
    auto paths = paths_;
    paths.insert(paths.end(), call.after_dashes.begin(), call.after_dashes.end());
    if (paths.empty()) {
      complain("check", "no path: name at least one");
      return usage_error;
    }
    auto workspace = canonical_workspace(expand_home(workspace_, call.environment));
    if (!workspace) return refuse_set_up(workspace.error());
    const auto carve_outs = carve_outs_for_tools(*workspace, git_settings_of(call.environment));
    if (!carve_outs) return refuse_set_up(carve_outs.error());
    const grant rules{*workspace, carve_outs->list()};
    auto start = start_in(rules);
    if (!start) return refuse_set_up(start.error());
    int code = 0;
    for (const auto& path : paths) {
      if (!check_one(rules, path, *start)) code = 1;
    }
    return code;
  }

 private:
  /// What the guard says where a path leads. A path outside is asked about in mode ask; for the
  /// caller that is a no until a person has answered, and the refusal says so.
  [[nodiscard]] std::expected<resolved, refusal> judged(const grant& rules,
                                                        std::expected<resolved, refusal> found,
                                                        operation wanted,
                                                        const std::string& path) const {
    const guard now{rules, parse_mode(mode_).value_or(mode::plan), gate::off, taint{}};
    const bool is_outside = !found && found.error().error == code::outside_workspace;
    if (!found && !is_outside) return found;
    const auto at = found ? found->canonical : found.error().resolved;
    const auto says = now.check(call_of(wanted, at));
    if (found && says == verdict::allow) return found;
    if (!found && says != verdict::ask) return found;
    return std::unexpected{says.to_refusal(path)};
  }

  static int refuse_set_up(const refusal& why) {
    complain("check", why);
    return usage_error;
  }

  [[nodiscard]] std::expected<std::string, refusal> start_in(const grant& rules) const {
    if (cwd_.empty()) return std::string{rules.workspace()};
    auto found = resolve(rules, operation::list, cwd_);
    if (!found) return std::unexpected{std::move(found.error())};
    struct stat about {};
    if (::stat(found->canonical.c_str(), &about) == 0 && S_ISDIR(about.st_mode)) {
      return std::move(found->canonical);
    }
    return std::unexpected{refusal{.error = code::not_a_directory,
                                   .op = operation::list,
                                   .path = cwd_,
                                   .resolved = std::move(found->canonical),
                                   .boundary = {},
                                   .detail = {}}};
  }

  [[nodiscard]] bool check_one(const grant& rules, const std::string& path,
                               const std::string& start) const {
    const auto wanted = operation_of(operation_);
    const auto found = judged(rules, resolve(rules, wanted, path, start), wanted, path);
    if (json_) {
      const auto canonical = found ? std::optional{found->canonical} : std::nullopt;
      const auto refused = found ? std::nullopt : std::optional{found.error()};
      (void)write_all(STDOUT_FILENO, one_line(checked_path_json(path, wanted, canonical, refused)));
    } else if (found) {
      (void)write_all(STDOUT_FILENO, terminal_safe(found->canonical) + "\n");
    } else {
      complain("check", found.error());
    }
    return found.has_value();
  }

  std::string operation_;
  std::vector<std::string> paths_;
  std::string workspace_{"."};
  std::string cwd_;
  std::string mode_{"autonomous"};
  bool json_{false};
};

}  // namespace

std::unique_ptr<command> make_check(CLI::App& app) {
  return std::make_unique<check_subcommand>(app);
}

}  // namespace pinfold
