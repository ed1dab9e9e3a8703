// Running without a boundary: the same guard is asked, and its answer stands.
#include <utility>
#include <vector>

#include <pinfold/disk/resolve.hpp>
#include <pinfold/grant.hpp>
#include <pinfold/guard.hpp>
#include <pinfold/sandbox/confine.hpp>
#include <pinfold/sandbox/none.hpp>

#include "host/shell.hpp"
#include "sandbox/command_environment.hpp"
#include "sandbox/own_places.hpp"
#include "sandbox/prepare.hpp"
#include "sandbox/start_directory.hpp"
#include "sandbox/taken_in.hpp"

namespace pinfold {
namespace {

/// The plan of a command for which nothing but its environment and its directory is set.
std::expected<launch_plan, refusal> plan_unconfined(const run_request& request,
                                                    const std::string& workspace,
                                                    const std::string& directory,
                                                    std::vector<std::string> environment) {
  const grant policy{workspace};
  const auto decided =
      guard{policy, request.present, request.open, request.labels}.allowing(unconfined{});
  confinement known;
  known.command = request.command;
  known.environment = std::move(environment);
  const auto facts = confine(decided, call::execute(request.command.front(), directory), known);
  if (!facts) return std::unexpected{facts.error()};
  return none_backend{}.wrap(*facts);
}

/// The first thing asked for that only a boundary can give, or nothing.
std::string_view beyond_none(const run_request& request) {
  if (!request.read_roots.empty()) return "--read";
  if (!request.sockets.empty()) return "--allow-socket";
  if (request.root == root_profile::minimal) return "--root minimal";
  if (request.caches == cache_choice::shared) return "--share-caches";
  if (request.egress.is_any()) return "an egress list";
  if (request.git_commit) return "--git-commit";
  if (!request.blob_directory.empty()) return "--blob-dir (it is read-only for the command)";
  return {};
}

}  // namespace

std::expected<prepared_run, refusal> prepare_unconfined(const run_request& request,
                                                        const caller& who) {
  if (const auto fact = beyond_none(request); !fact.empty()) {
    return std::unexpected{not_enforceable(fact, backend_name::none)};
  }
  auto workspace = canonical_workspace(request.workspace);
  if (!workspace) return std::unexpected{std::move(workspace.error())};
  if (auto apart = check_own_places(*workspace, who); !apart) {
    return std::unexpected{std::move(apart.error())};
  }
  auto directory = start_directory(request, *workspace);
  if (!directory) return std::unexpected{std::move(directory.error())};
  auto home = temporary_directory::make("home");
  if (!home) return std::unexpected{std::move(home.error())};
  auto environment = command_environment(who, *workspace, home->path(), request.environment, {},
                                         workspace_tools::left_out);
  if (!environment) return std::unexpected{std::move(environment.error())};
  auto plan = plan_unconfined(request, *workspace, *directory, std::move(*environment));
  if (!plan) return std::unexpected{std::move(plan.error())};
  if (plan->command.front() == "bash") {
    auto shell = host_bash();
    if (!shell) return std::unexpected{std::move(shell.error())};
    plan->command.front() = std::move(*shell);
  }
  prepared_run ready{.plan = std::move(*plan),
                     .extras = {},
                     .lock = {},
                     .home = std::move(*home),
                     .later = {},
                     .blobs = {},
                     .egress = {},
                     .committing = {},
                     .decided = decided_about(request)};
  ready.decided.after = labels_after(request, enforcement::unconfined);
  ready.extras.files.push_back(
      {ready.home->path() + "/.gitconfig", git_configuration_for(who.git, *workspace)});
  return ready;
}

std::expected<prepared_run, refusal> prepare_gate(const run_request& request,
                                                  const caller_environment& environment,
                                                  workspace_tools tools) {
  auto workspace = canonical_workspace(request.workspace);
  if (!workspace) return std::unexpected{std::move(workspace.error())};
  auto directory = start_directory(request, *workspace);
  if (!directory) return std::unexpected{std::move(directory.error())};
  auto entries = environment.entries();
  if (tools == workspace_tools::first_in_path) {
    const auto path = environment.find("PATH");
    const auto value =
        "PATH=" + *workspace + "/.local/bin" + (path ? ":" + std::string{*path} : "");
    std::erase_if(entries, [](const std::string& entry) { return entry.starts_with("PATH="); });
    entries.push_back(value);
  }
  auto plan = plan_unconfined(request, *workspace, *directory, std::move(entries));
  if (!plan) return std::unexpected{std::move(plan.error())};
  prepared_run ready{.plan = std::move(*plan),
                     .extras = {},
                     .lock = {},
                     .home = {},
                     .later = {},
                     .blobs = {},
                     .egress = {},
                     .committing = {},
                     .decided = decided_about(request)};
  ready.decided.after = labels_after(request, enforcement::unconfined);
  ready.extras.cores = core_dumps::as_the_caller;
  return ready;
}

}  // namespace pinfold
