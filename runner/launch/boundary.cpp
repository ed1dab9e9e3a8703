// The mounts of a plan are read in their order: what counts for a path is the last mount over it.
#include "launch/boundary.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include <pinfold/path.hpp>

namespace pinfold {
namespace {

bool shows_something(const mount& one) {
  return one.kind != mount_kind::remount_ro;
}

/// The names directly in `place` that lead to a mount of the plan.
std::vector<std::string> names_in(const std::string& place, const launch_plan& plan) {
  std::vector<std::string> names;
  for (const auto& one : plan.mounts) {
    if (!shows_something(one) || one.target == place) continue;
    const auto tail = tail_below(place, one.target);
    if (!tail || tail->empty()) continue;
    std::string name{tail->substr(0, tail->find('/'))};
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

/// A new mount: not a name in one, and not a change of one (that binds no mount below it).
bool makes_a_mount(const mount& one) {
  return one.kind != mount_kind::directory && one.kind != mount_kind::symbolic_link &&
         one.kind != mount_kind::remount_ro;
}

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

/// Whether the plan makes a place read-only at the end.
bool is_closed(const std::string& place, const launch_plan& plan) {
  return std::ranges::any_of(plan.mounts, [&](const mount& one) {
    return one.kind == mount_kind::remount_ro && one.target == place;
  });
}

/// An empty place that is read-only in the end. (bwrap's /dev is closed too: no file can be made there, and
/// the devices answer for themselves.)
bool is_closed_place(const mount& one, const launch_plan& plan) {
  return one.kind == mount_kind::tmpfs && is_closed(one.target, plan);
}

/// Whether the command may write at `path`: the last mount over it says so.
bool is_writable(const std::string& path, const launch_plan& plan) {
  bool writable = false;
  for (const auto& one : plan.mounts) {
    if (!makes_a_mount(one) || !contains(one.target, path)) continue;
    const bool empty_place = one.kind == mount_kind::tmpfs && !is_closed_place(one, plan);
    writable = one.kind == mount_kind::bind || empty_place;
  }
  return writable;
}

expected_place empty_place(const mount& one, const launch_plan& plan) {
  expected_place place{one.target, stage::place_listed, names_in(one.target, plan)};
  place.kind |= is_closed(one.target, plan) ? stage::place_closed : stage::place_scratch;
  return place;
}

/// The root; under the minimal profile it is an empty place of bwrap's own.
expected_place root_place(const launch_plan& plan) {
  expected_place root{"/", stage::place_closed | stage::place_outside, {}};
  const bool is_shown = std::ranges::any_of(plan.mounts, [](const mount& one) {
    return one.target == "/" && one.kind == mount_kind::ro_bind;
  });
  if (is_shown) return root;
  root.kind |= stage::place_listed;
  root.entries = names_in("/", plan);
  return root;
}

}  // namespace

std::vector<expected_place> expected_places(const launch_plan& plan) {
  std::vector<expected_place> places;
  if (plan.backend == backend_name::none) return places;
  places.push_back(root_place(plan));
  if (auto parent = parent_of(plan.workspace); parent != "/" && !is_writable(parent, plan)) {
    places.push_back({std::move(parent), stage::place_closed | stage::place_outside, {}});
  }
  for (const auto& one : plan.mounts) {
    if (one.kind == mount_kind::tmpfs) places.push_back(empty_place(one, plan));
    if (one.kind == mount_kind::ro_bind && one.source == "/dev/null") {
      places.push_back({one.target, stage::place_covered, {}});
    }
  }
  for (auto& path : open_places(plan)) places.push_back({std::move(path), stage::place_open, {}});
  return places;
}

/// Writable binds, empty places, and the sandbox's own /dev and /proc, whose files answer for themselves.
std::vector<std::string> open_places(const launch_plan& plan) {
  std::vector<std::string> places;
  for (const auto& one : plan.mounts) {
    const bool is_open = one.kind == mount_kind::bind || one.kind == mount_kind::tmpfs ||
                         one.kind == mount_kind::dev || one.kind == mount_kind::proc;
    const auto holds_it = [&one](const std::string& other) { return contains(other, one.target); };
    if (!is_open || is_closed_place(one, plan) || std::ranges::any_of(places, holds_it)) continue;
    places.push_back(one.target);
  }
  return places;
}

std::array<std::uint64_t, stage::namespace_count> foreign_namespaces(const launch_plan& plan) {
  std::array<std::uint64_t, stage::namespace_count> inodes{};
  if (plan.backend == backend_name::none) return inodes;
  for (std::size_t i = 0; i < inodes.size(); ++i) {
    const auto name = stage::namespace_names[i];
    if (name == "net" && plan.network == network_access::on) continue;
    struct stat about {};
    const auto path = "/proc/thread-self/ns/" + std::string{name};  // whose child bwrap is
    inodes[i] = ::stat(path.c_str(), &about) == 0 ? about.st_ino : stage::unknown_namespace;
  }
  return inodes;
}

}  // namespace pinfold
