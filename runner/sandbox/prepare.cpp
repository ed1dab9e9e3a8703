// The same steps for `run` and for `explain`; only `run` takes the lock and makes what is missing.
#include "sandbox/prepare.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include <pinfold/disk/resolve.hpp>
#include <pinfold/grant.hpp>

#include "egress/run_egress.hpp"
#include "sandbox/command_environment.hpp"
#include "sandbox/egress_environment.hpp"
#include "sandbox/git_state.hpp"
#include "sandbox/own_places.hpp"
#include "sandbox/place_proofs.hpp"
#include "sandbox/places.hpp"
#include "sandbox/preparation.hpp"
#include "sandbox/sockets.hpp"
#include "sandbox/probe.hpp"
#include "sandbox/start_directory.hpp"
#include "sandbox/taken_in.hpp"

namespace pinfold {
namespace {

step open_workspace(preparation& now) {
  if (now.missing == making::made) {
    auto lock = workspace_lock::take(now.workspace);
    if (!lock) return std::unexpected{std::move(lock.error())};
    now.lock.emplace(std::move(*lock));
    return check_search(now.workspace, now.directory());
  }
  now.looked_at.reset(
      ::open(now.workspace.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (now.looked_at) return {};
  return std::unexpected{refused(code::permission_denied, now.workspace, std::strerror(errno))};
}

/// Where nothing can be made, by the caller neither, a command cannot be shown what comes later.
bool can_do_without(const refusal& why, const run_request& request) {
  return request.present == mode::plan && why.error == code::workspace_not_writable;
}

/// Harness state is hidden whether it is there or not: the harness may make it during the run.
step add_harness_state(preparation& now, const carve_out& carve) {
  std::string name{carve.path};
  struct stat about {};
  const bool is_there = ::fstatat(now.directory(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0;
  if (is_there && !S_ISDIR(about.st_mode)) {
    return std::unexpected{
        refused(code::carve_out_unusable, now.workspace + "/" + name,
                S_ISLNK(about.st_mode) ? "it is a symbolic link" : "it is not a directory")};
  }
  if (now.lock) {
    auto made = now.lock->ensure(name);
    if (!made && can_do_without(made.error(), now.request)) return {};
    if (!made) return made;
  }
  now.facts.carve_outs.push_back({.path = now.workspace + "/" + name,
                                  .kind = carve_kind::harness_state,
                                  .type = file_kind::directory,
                                  .shell = carved_path::shown::hidden});
  return {};
}

git_files git_files_for(const preparation& now) {
  if (now.request.present == mode::plan) return git_files::as_found;
  return now.missing == making::made ? git_files::complete : git_files::look_only;
}

step add_carve_outs(preparation& now) {
  for (const auto& carve : default_carve_outs) {
    if (carve.kind != carve_kind::harness_state) continue;
    if (auto done = add_harness_state(now, carve); !done) return done;
  }
  auto git =
      look_at_git(now.workspace, now.directory(), git_files_for(now), now.who.git_settings);
  if (!git) return std::unexpected{std::move(git.error())};
  for (auto& carve : git->carve_outs) now.facts.carve_outs.push_back(std::move(carve));
  now.facts.pinned = std::move(git->pinned);
  now.later.hooks_paths = std::move(git->hooks_paths);
  now.obeyed = std::move(git->obeyed);
  now.later.indexes = std::move(git->indexes);
  return {};
}

step add_sockets(preparation& now) {
  for (const auto& path : now.request.sockets) {
    auto socket = allowed_socket(path, now.workspace);
    if (!socket) return std::unexpected{std::move(socket.error())};
    now.facts.shared.push_back(std::move(*socket));
  }
  return {};
}

/// Last of all: it looks at everything that is shown.
step cover_sockets(preparation& now) {
  cover_visible_sockets(now.facts);
  return {};
}

step add_command(preparation& now) {
  now.facts.command = now.request.command;
  now.facts.scratch_bytes = now.request.tmp_size;
  auto directory = start_directory(now.request, now.workspace);
  if (!directory) return std::unexpected{std::move(directory.error())};
  now.facts.directory = std::move(*directory);
  const auto& egress = now.request.egress;
  auto environment = command_environment(
      now.who, now.workspace, confined_home, now.request.environment,
      has_egress(now.request) ? egress_environment(egress, proxy_port_of(egress))
                              : std::vector<std::string>{});
  if (!environment) return std::unexpected{std::move(environment.error())};
  now.facts.environment = std::move(*environment);
  return {};
}

std::expected<preparation, refusal> prepare(const run_request& request, const caller& who,
                                            making missing) {
  auto workspace = confined_workspace(request, who);
  if (!workspace) return std::unexpected{std::move(workspace.error())};
  preparation now{request, who, missing, std::move(*workspace), {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  for (const auto next : {add_places, add_command, add_sockets, open_workspace, add_blob_directory,
                          add_repository, add_carve_outs, add_caches, decide, cover_sockets}) {
    if (auto done = next(now); !done) return std::unexpected{std::move(done.error())};
  }
  return now;
}

prepared_run made_ready(preparation& now, launch_plan plan) {
  prepared_run ready{.plan = std::move(plan),
                     .extras = {},
                     .lock = std::move(now.lock),
                     .home = {},
                     .later = {},
                     .blobs = std::move(now.blobs),
                     .egress = {},
                     .committing = std::move(now.committing),
                     .decided = decided_about(now.request)};
  if (!ready.plan.egress.empty()) ready.egress = now.request.egress;
  ready.decided.after = labels_after(now.request, enforcement::enforced);
  ready.decided.caches = now.request.caches;
  if (now.request.caches == cache_choice::own && now.cache_directory.empty()) {
    ready.decided.caches = cache_choice::none;
  }
  ready.decided.cache_directory = std::move(now.cache_directory);
  return ready;
}

/// The walk after the run, begun now: what was made on the way here is no news.
host_run_search search_after(preparation& now) {
  auto search = begin_host_run_search(now.workspace, now.directory());
  search.hooks_paths = std::move(now.later.hooks_paths);
  search.indexes = std::move(now.later.indexes);
  search.obeyed = watched(std::move(now.obeyed), now.directory());
  for (const auto& carve : now.facts.carve_outs) {
    search.carved.emplace(tail_below(now.workspace, carve.path).value_or(""));
  }
  return search;
}

}  // namespace

/// In order; the last line permits:
///  1. what `check_breadth` refuses            -> refuse
///  2. what holds the sandbox's own home       -> refuse: a file is made there
///  3. what `check_own_places` refuses         -> refuse: a command could swap what lies there
///  4. anything else                           -> a workspace
std::expected<std::string, refusal> confined_workspace(const run_request& request,
                                                       const caller& who) {
  auto workspace = canonical_workspace(request.workspace);
  if (!workspace) {
    workspace.error().op = operation::execute;
    return workspace;
  }
  if (auto fits = check_breadth(*workspace, who, hidden_places(who)); !fits) {
    return std::unexpected{std::move(fits.error())};
  }
  if (contains(*workspace, confined_home)) {
    auto broad =
        refused(code::workspace_too_broad, *workspace, "the sandbox's own home is there");
    broad.boundary = confined_home;
    return std::unexpected{std::move(broad)};
  }
  if (auto apart = check_own_places(*workspace, who); !apart) {
    return std::unexpected{std::move(apart.error())};
  }
  return workspace;
}

std::expected<bubblewrap, refusal> backend_for(const run_request& request, const caller& who) {
  auto workspace = confined_workspace(request, who);
  if (!workspace) return std::unexpected{std::move(workspace.error())};
  bubblewrap_search search;
  search.workspace = std::move(*workspace);
  auto found = usable_bubblewrap(search);
  if (!found) return std::unexpected{std::move(found.error())};
  return bubblewrap{.program = std::move(found->program)};
}

std::expected<prepared_run, refusal> plan_confined(const run_request& request, const caller& who,
                                                   const bubblewrap& backend) {
  auto now = prepare(request, who, making::left_out);
  if (!now) return std::unexpected{std::move(now.error())};
  auto plan = backend.wrap(now->facts);
  if (!plan) return std::unexpected{std::move(plan.error())};
  return made_ready(*now, std::move(*plan));
}

std::expected<prepared_run, refusal> prepare_confined(const run_request& request, const caller& who,
                                                      const bubblewrap& backend) {
  auto now = prepare(request, who, making::made);
  if (!now) return std::unexpected{std::move(now.error())};
  auto plan = backend.wrap(now->facts);
  if (!plan) return std::unexpected{std::move(plan.error())};
  auto proofs = place_proofs_for(*now);
  if (!proofs) return std::unexpected{std::move(proofs.error())};
  const auto access = now->facts.access;
  std::optional<host_run_search> later;
  if (access == workspace_access::read_write) later = search_after(*now);
  auto ready = made_ready(*now, std::move(*plan));
  ready.later = std::move(later);
  ready.extras = {.files = {{std::string{confined_home} + "/.gitconfig",
                             git_configuration_for(who.git, ready.plan.workspace)}},
                  .held = {ready.lock->directory()},
                  .proofs = std::move(*proofs),
                  .access = access,
                  .cores = core_dumps::forbidden,
                  .blobs = {},
                  .cgroups = {},
                  .cancelled = -1,
                  .listeners = {},
                  .when_listening = {},
                  .news = -1,
                  .when_news = {},
                  .meanwhile = {},
                  .when_gone = {}};
  if (ready.blobs) {
    ready.extras.blobs = {ready.blobs->held.get(), ready.blobs->path, request.blob_most};
  }
  return ready;
}

}  // namespace pinfold
