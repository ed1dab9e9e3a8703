// The same steps for `run` and for `explain`; only `run` takes the lock and makes what is missing.
#include "sandbox/prepare.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
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
#include "sandbox/look_below.hpp"
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
  preparation now{request, who, missing, std::move(*workspace), {}, {}, {}, {}, {}, {}, {}, {}, {}};
  for (const auto next : {add_places, add_command, add_sockets, open_workspace, add_carve_outs,
                          add_blob_directory, add_caches, decide, cover_sockets}) {
    if (auto done = next(now); !done) return std::unexpected{std::move(done.error())};
  }
  return now;
}

/// What is shown on request under its own name: another run may have the folder around it for its
/// workspace, and put something else in its place before bwrap comes to it.
step add_shown(std::vector<place_proof>& proofs, const preparation& now) {
  const descriptor root{::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
  for (const auto& one : now.facts.shared) {
    if (one.source != one.target || one.access != root_access::read) continue;
    if (now.blobs && one.target == now.blobs->path) continue;  // held, and proven by itself
    struct stat about {};
    if (const int wrong = look_below(root.get(), one.target.substr(1), about); wrong != 0) {
      return std::unexpected{refused(code::try_again, one.target, std::strerror(wrong))};
    }
    proofs.push_back({one.target, about.st_dev, about.st_ino, place_proof::identity::same,
                      place_proof::mount::read_only, one.purpose != shared_path::use::socket});
  }
  return {};
}

/// What stage two must find: the workspace that is locked here, each carve-out that was seen.
std::expected<std::vector<place_proof>, refusal> proofs_for(const preparation& now) {
  std::vector<place_proof> proofs;
  const auto add = [&](const std::string& path, place_proof::mount state,
                       place_proof::identity object) -> step {
    struct stat about {};
    const auto tail = tail_below(now.workspace, path).value_or("");
    if (const int wrong = look_below(now.directory(), tail, about); wrong != 0) {
      return std::unexpected{refused(code::workspace_gone, path, std::strerror(wrong))};
    }
    proofs.push_back({path, about.st_dev, about.st_ino, object, state, true});
    return {};
  };
  using mount = place_proof::mount;
  using identity = place_proof::identity;
  const bool is_plan = now.facts.access == workspace_access::read_only;
  step done = add(now.workspace, is_plan ? mount::read_only : mount::any, identity::same);
  for (const auto& path : now.facts.pinned) {
    if (done) done = add(path, mount::any, identity::same);
  }
  for (const auto& carve : now.facts.carve_outs) {
    const bool covered = carve.shell == carved_path::shown::hidden;
    if (done) done = add(carve.path, mount::read_only, covered ? identity::any : identity::same);
  }
  if (done) done = add_shown(proofs, now);
  if (!done) return std::unexpected{std::move(done.error())};
  for (const auto& cache : now.caches) {
    proofs.push_back({cache.target, cache.device, cache.inode, identity::same, mount::any, true});
  }
  if (now.blobs) {
    struct stat about {};
    if (::fstat(now.blobs->held.get(), &about) != 0) {
      return std::unexpected{refused(code::try_again, now.blobs->path, std::strerror(errno))};
    }
    proofs.push_back({now.blobs->path, about.st_dev, about.st_ino, identity::same, mount::read_only,
                      true});
  }
  return proofs;
}

prepared_run made_ready(preparation& now, launch_plan plan) {
  prepared_run ready{.plan = std::move(plan),
                     .extras = {},
                     .lock = std::move(now.lock),
                     .home = {},
                     .later = {},
                     .blobs = std::move(now.blobs),
                     .egress = {},
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
///  3. what holds the caches of workspaces, or lies in them -> refuse: a command could swap them
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
  const auto refuse = [&](std::string boundary, std::string why) {
    auto broad = refused(code::workspace_too_broad, *workspace, std::move(why));
    broad.boundary = std::move(boundary);
    return std::unexpected{std::move(broad)};
  };
  if (contains(*workspace, confined_home)) {
    return refuse(std::string{confined_home}, "the sandbox's own home is there");
  }
  const auto root = cache_root_of(who);
  if (root && *root && (contains(*workspace, **root) || contains(**root, *workspace))) {
    return refuse(**root, "the caches of workspaces lie there");
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
  auto proofs = proofs_for(*now);
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

namespace {

/// Which places are not what they were at the start, by device and inode: for a person to look at.
std::string what_became_of_the_carve_outs(const prepared_run& ready) {
  std::string names;
  for (const auto& proof : ready.extras.proofs) {
    if (!contains(ready.plan.workspace, proof.path)) continue;  // a cache, as it is called inside
    struct stat now {};
    const bool is_there = ::lstat(proof.path.c_str(), &now) == 0;
    if (is_there && now.st_dev == proof.device && now.st_ino == proof.inode) continue;
    names += (names.empty() ? "" : ", ") + proof.path + (is_there ? "" : " (gone)");
  }
  return names.empty() ? "all of them are what they were; their content may have changed"
                       : "look at these before a program of the host uses them: " + names;
}

/// Harness state is covered; a file in it that has another name somewhere is reached by that one,
/// whatever is mounted, so what stands there is said.
enforced_property harness_state_held(const prepared_run& ready) {
  constexpr auto name = "harness_state";
  const auto linked = hard_linked_state(ready.lock->directory());
  if (linked.files.empty() && linked.is_whole) return {name, strength::full, "covered, and read-only"};
  std::string names;
  for (const auto& path : linked.files) names += (names.empty() ? "" : ", ") + path;
  if (names.empty()) {
    return {name, strength::partial,
            "covered, but it holds too much for all of it to be looked through for hard links"};
  }
  if (!linked.is_whole) names += ", and maybe of more";
  return {name, strength::partial, "covered, but a hard link elsewhere shares the content of " + names};
}

/// The proxy begins when the sandbox hands out its listeners, and tells what it does on this thread.
void serve_egress(run_egress& egress, launch_extras& extras, const sinks& events) {
  extras.listeners = egress.ports();
  extras.when_listening = [&egress](std::vector<descriptor> listeners) {
    return egress.serve(std::move(listeners));
  };
  extras.news = egress.news();
  extras.when_news = [&egress, &events] { egress.tell(events); };
}

bool holds(const run_record& record, std::string_view property) {
  const auto one = std::ranges::find(record.enforced, property, &enforced_property::name);
  return one != record.enforced.end() && one->held == strength::full;
}

}  // namespace

run_record run_prepared(prepared_run ready, const limits& bounds, const sinks& events) {
  std::optional<enforced_property> state;
  std::optional<host_run_report> left;
  const auto look = [&ready, &left](const run_record& so_far) {
    if (!ready.later) return;
    if (holds(so_far, "system_calls")) ready.later->set_id = set_id_files::barred;
    left = look_for_host_run(*ready.later, ready.lock->directory());
  };
  ready.extras.when_gone = look;
  ready.extras.meanwhile = [&ready, &state] {
    if (ready.lock) state = harness_state_held(ready);
    if (ready.later) list_ahead(*ready.later, ready.lock->directory());
  };
  std::optional<run_egress> egress;
  if (ready.egress) serve_egress(egress.emplace(*ready.egress), ready.extras, events);
  auto record = run(ready.plan, bounds, events, ready.extras);
  if (egress) {
    record.egress = egress->finish(events);
    record.egress->list = ready.plan.egress;
  }
  if (state && !record.enforced.empty()) record.enforced.push_back(std::move(*state));
  record.decided = std::move(ready.decided);
  const bool has_run = record.ended != ending::refused;
  if (!has_run) record.decided.after = record.decided.before;
  if (record.error && record.error->error == code::boundary_lost) {
    record.error->detail = what_became_of_the_carve_outs(ready);
    if (ready.later && has_run) {
      ready.later->carved.clear();  // what was not held has to be looked at
      look(record);
    }
  }
  if (left && has_run) record.host_run = std::move(*left);
  return record;
}

}  // namespace pinfold
