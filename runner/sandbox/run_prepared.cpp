// From a prepared run to its record: what the launcher cannot know is added to it.
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include <pinfold/path.hpp>

#include "egress/run_egress.hpp"
#include "sandbox/git_commit/import.hpp"
#include "sandbox/prepare.hpp"

namespace pinfold {
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

/// Who cancels a run while its command lasts is given what it had committed, if that takes no time.
import_bounds bounds_of_import(const run_record& so_far, const sinks& events,
                               const launch_extras& extras) {
  import_bounds most;
  if (so_far.ended == ending::cancelled) {
    most.time = std::chrono::seconds{5};
  } else {
    most.cancelled = {events.cancel_descriptor, extras.cancelled};
  }
  return most;
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
  if (ready.egress) serve_egress(egress.emplace(*ready.egress, events), ready.extras, events);
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
  // Every process inside is gone by now, and the workspace's lock is still held.
  if (ready.committing && has_run) {
    record.commits = import_commits(ready.committing->ground, ready.committing->copies,
                                    bounds_of_import(record, events, ready.extras));
  }
  ready.lock.reset();
  if (ready.afterwards) ready.afterwards(record);
  return record;
}

}  // namespace pinfold
