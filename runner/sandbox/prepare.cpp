// The same steps for `run` and for `explain`; only `run` takes the lock and makes what is missing.
#include "sandbox/prepare.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <pinfold/disk/resolve.hpp>
#include <pinfold/grant.hpp>
#include <pinfold/sandbox/none.hpp>

#include "sandbox/command_environment.hpp"
#include "sandbox/git_state.hpp"
#include "sandbox/places.hpp"
#include "sandbox/sockets.hpp"
#include "sandbox/probe.hpp"

namespace pinfold {
namespace {

/// One preparation under way: the canonical workspace, held open, and the facts so far.
struct preparation {
  const run_request& request;
  const caller& who;
  git_files mode;
  std::string workspace;
  confinement facts;
  host_run_search later;  ///< what the walk after the end has to know
  std::optional<workspace_lock> lock;
  descriptor looked_at;  ///< the workspace, when there is no lock

  [[nodiscard]] int directory() const noexcept {
    return lock ? lock->directory() : looked_at.get();
  }
};

using step = std::expected<void, refusal>;

refusal refused(code error, std::string path, std::string detail) {
  return refusal{.error = error,
                 .op = operation::execute,
                 .path = std::move(path),
                 .resolved = {},
                 .boundary = {},
                 .detail = std::move(detail)};
}

/// A command starts where its caller says, if that is inside: model-chosen directories go through
/// the same resolver as tool paths.
std::expected<std::string, refusal> start_directory(const run_request& request,
                                                    const std::string& workspace) {
  if (request.directory.empty()) return workspace;
  const grant rules{workspace};
  auto found = resolve_read(rules, request.directory);
  if (!found) {
    found.error().op = operation::execute;
    return std::unexpected{std::move(found.error())};
  }
  struct stat about {};
  if (::stat(found->canonical.c_str(), &about) != 0 || !S_ISDIR(about.st_mode)) {
    return std::unexpected{refused(code::not_a_directory, request.directory, {})};
  }
  return std::move(found->canonical);
}

step open_workspace(preparation& now) {
  if (now.mode == git_files::complete) {
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

/// Harness state is hidden whether it is there or not. In a read-only workspace nothing can be
/// made, by the command neither, so what is absent needs no cover.
step add_harness_state(preparation& now, const carve_out& carve) {
  std::string name{carve.path};
  struct stat about {};
  const bool is_there = ::fstatat(now.directory(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0;
  if (!is_there && now.request.access == workspace_access::read_only) return {};
  if (is_there && !S_ISDIR(about.st_mode)) {
    return std::unexpected{
        refused(code::carve_out_unusable, now.workspace + "/" + name,
                S_ISLNK(about.st_mode) ? "it is a symbolic link" : "it is not a directory")};
  }
  if (now.lock) {
    if (auto made = now.lock->ensure(name); !made) return made;
  }
  now.facts.carve_outs.push_back({.path = now.workspace + "/" + name,
                                  .kind = carve_kind::harness_state,
                                  .type = file_kind::directory,
                                  .shell = carved_path::shown::hidden});
  return {};
}

step add_carve_outs(preparation& now) {
  for (const auto& carve : default_carve_outs) {
    if (carve.kind != carve_kind::harness_state) continue;
    if (auto done = add_harness_state(now, carve); !done) return done;
  }
  const auto mode =
      now.request.access == workspace_access::read_only ? git_files::look_only : now.mode;
  auto git = look_at_git(now.workspace, now.directory(), mode, now.who.git_hooks_path);
  if (!git) return std::unexpected{std::move(git.error())};
  for (auto& carve : git->carve_outs) now.facts.carve_outs.push_back(std::move(carve));
  now.facts.pinned = std::move(git->pinned);
  now.later.hooks_path = std::move(git->hooks_path);
  now.later.obeyed = std::move(git->obeyed);
  return {};
}

step add_places(preparation& now) {
  now.facts.hidden = hidden_places(now.who);
  if (now.request.root == root_profile::minimal) {
    now.facts.visible = minimal_root(now.request.network);
  } else {
    now.facts.hidden_files = secret_files();
  }
  if (now.request.network == network_access::on)
    now.facts.shared = resolver_files();
  for (const auto& path : now.request.read_roots) {
    auto root = read_root(path, now.who, now.facts.hidden);
    if (!root) return std::unexpected{std::move(root.error())};
    now.facts.shared.push_back(std::move(*root));
  }
  return {};
}

step add_sockets(preparation& now) {
  for (const auto& path : now.request.sockets) {
    auto socket = allowed_socket(path, now.workspace);
    if (!socket) return std::unexpected{std::move(socket.error())};
    now.facts.shared.push_back(std::move(*socket));
  }
  cover_visible_sockets(now.facts);
  return {};
}

step add_command(preparation& now) {
  now.facts.workspace = now.workspace;
  now.facts.access = now.request.access;
  now.facts.root = now.request.root;
  now.facts.network = now.request.network;
  now.facts.command = now.request.command;
  now.facts.scratch_bytes = now.request.tmp_size;
  auto directory = start_directory(now.request, now.workspace);
  if (!directory) return std::unexpected{std::move(directory.error())};
  now.facts.directory = std::move(*directory);
  auto environment =
      command_environment(now.who, now.workspace, confined_home, now.request.environment);
  if (!environment) return std::unexpected{std::move(environment.error())};
  now.facts.environment = std::move(*environment);
  return {};
}

std::expected<preparation, refusal> prepare(const run_request& request, const caller& who,
                                            git_files mode) {
  auto workspace = confined_workspace(request, who);
  if (!workspace) return std::unexpected{std::move(workspace.error())};
  preparation now{request, who, mode, std::move(*workspace), {}, {}, {}, {}};
  for (const auto next : {add_places, add_command, add_sockets, open_workspace, add_carve_outs}) {
    if (auto done = next(now); !done) return std::unexpected{std::move(done.error())};
  }
  return now;
}

/// What stage two must find: the workspace that is locked here, each carve-out that was seen.
std::expected<std::vector<place_proof>, refusal> proofs_for(const preparation& now) {
  std::vector<place_proof> proofs;
  const auto add = [&](const std::string& path, place_proof::mount state,
                       place_proof::identity object) -> step {
    struct stat about {};
    const auto tail = tail_below(now.workspace, path).value_or("");
    const int wrong = tail.empty() ? ::fstat(now.directory(), &about)
                                   : ::fstatat(now.directory(), std::string{tail}.c_str(), &about,
                                               AT_SYMLINK_NOFOLLOW);
    if (wrong != 0) {
      return std::unexpected{refused(code::workspace_gone, path, std::strerror(errno))};
    }
    proofs.push_back({path, about.st_dev, about.st_ino, object, state});
    return {};
  };
  using mount = place_proof::mount;
  using identity = place_proof::identity;
  step done = add(now.workspace, mount::any, identity::same);
  for (const auto& path : now.facts.pinned) {
    if (done) done = add(path, mount::any, identity::same);
  }
  for (const auto& carve : now.facts.carve_outs) {
    const bool covered = carve.shell == carved_path::shown::hidden;
    if (done) done = add(carve.path, mount::read_only, covered ? identity::any : identity::same);
  }
  if (!done) return std::unexpected{std::move(done.error())};
  return proofs;
}

/// The walk after the run, begun now: what was made on the way here is no news.
host_run_search search_after(preparation& now) {
  auto search = begin_host_run_search(now.workspace, now.directory());
  search.hooks_path = std::move(now.later.hooks_path);
  search.obeyed = std::move(now.later.obeyed);
  for (const auto& carve : now.facts.carve_outs) {
    search.carved.emplace_back(tail_below(now.workspace, carve.path).value_or(""));
  }
  return search;
}

}  // namespace

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

std::expected<launch_plan, refusal> plan_confined(const run_request& request, const caller& who,
                                                  const bubblewrap& backend) {
  auto now = prepare(request, who, git_files::look_only);
  if (!now) return std::unexpected{std::move(now.error())};
  return backend.wrap(now->facts);
}

std::expected<prepared_run, refusal> prepare_confined(const run_request& request, const caller& who,
                                                      const bubblewrap& backend) {
  auto now = prepare(request, who, git_files::complete);
  if (!now) return std::unexpected{std::move(now.error())};
  auto plan = backend.wrap(now->facts);
  if (!plan) return std::unexpected{std::move(plan.error())};
  auto proofs = proofs_for(*now);
  if (!proofs) return std::unexpected{std::move(proofs.error())};
  prepared_run ready{.plan = std::move(*plan),
                     .extras = {.files = {{std::string{confined_home} + "/.gitconfig",
                                           git_configuration_for(who.git, now->workspace)}},
                                .held = {now->lock->directory()},
                                .proofs = std::move(*proofs),
                                .access = request.access,
                                .cores = core_dumps::forbidden},
                     .lock = std::move(now->lock),
                     .home = {},
                     .later = {}};
  if (request.access == workspace_access::read_write) ready.later = search_after(*now);
  return ready;
}

namespace {

/// A confinement that asks for nothing, which is what backend `none` can hold to.
std::expected<launch_plan, refusal> plan_unconfined(const run_request& request,
                                                    std::string workspace, std::string directory,
                                                    std::vector<std::string> environment) {
  confinement facts;
  facts.workspace = std::move(workspace);
  facts.directory = std::move(directory);
  facts.command = request.command;
  facts.environment = std::move(environment);
  facts.network = network_access::on;
  return none_backend{}.wrap(facts);
}

}  // namespace

std::expected<prepared_run, refusal> prepare_unconfined(const run_request& request,
                                                        const caller& who) {
  if (!request.read_roots.empty() || !request.sockets.empty() || request.root == root_profile::minimal ||
      request.access == workspace_access::read_only) {
    return std::unexpected{
        not_enforceable("what --read, --allow-socket, --root minimal or plan mode asks for", backend_name::none)};
  }
  auto workspace = canonical_workspace(request.workspace);
  if (!workspace) return std::unexpected{std::move(workspace.error())};
  auto directory = start_directory(request, *workspace);
  if (!directory) return std::unexpected{std::move(directory.error())};
  auto home = temporary_directory::make("home");
  if (!home) return std::unexpected{std::move(home.error())};
  auto environment = command_environment(who, *workspace, home->path(), request.environment);
  if (!environment) return std::unexpected{std::move(environment.error())};
  const auto configuration = git_configuration_for(who.git, *workspace);
  auto plan = plan_unconfined(request, std::move(*workspace), std::move(*directory),
                              std::move(*environment));
  if (!plan) return std::unexpected{std::move(plan.error())};
  prepared_run ready{.plan = std::move(*plan), .extras = {}, .lock = {}, .home = std::move(*home), .later = {}};
  ready.extras.files.push_back({ready.home->path() + "/.gitconfig", configuration});
  return ready;
}

namespace {

/// Which places are not what they were at the start, by device and inode: for a person to look at.
std::string what_became_of_the_carve_outs(const prepared_run& ready) {
  std::string names;
  for (const auto& proof : ready.extras.proofs) {
    struct stat now {};
    const bool is_there = ::lstat(proof.path.c_str(), &now) == 0;
    if (is_there && now.st_dev == proof.device && now.st_ino == proof.inode) continue;
    names += (names.empty() ? "" : ", ") + proof.path + (is_there ? "" : " (gone)");
  }
  return names.empty() ? "all of them are what they were; their content may have changed"
                       : "look at these before a program of the host uses them: " + names;
}

}  // namespace

run_record run_prepared(prepared_run ready, const limits& bounds, const sinks& events) {
  auto record = run(ready.plan, bounds, events, ready.extras);
  const bool has_run = record.ended != ending::refused;
  if (record.error && record.error->error == code::boundary_lost) {
    record.error->detail = what_became_of_the_carve_outs(ready);
    if (ready.later) ready.later->carved.clear();  // what was not held has to be looked at
  }
  if (ready.later && ready.lock && has_run) {
    record.host_run = look_for_host_run(*ready.later, ready.lock->directory());
  }
  return record;
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
  auto plan =
      plan_unconfined(request, std::move(*workspace), std::move(*directory), std::move(entries));
  if (!plan) return std::unexpected{std::move(plan.error())};
  prepared_run ready{.plan = std::move(*plan), .extras = {}, .lock = {}, .home = {}, .later = {}};
  ready.extras.cores = core_dumps::as_the_caller;
  return ready;
}

}  // namespace pinfold
