// Which facts bubblewrap cannot hold a command to: looked at before any plan is made. It must never
// let pass what a mount table would show wider than the facts say.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <pinfold/path.hpp>
#include <pinfold/sandbox/confinement.hpp>

namespace pinfold::detail {

/// True when a shared path shows under another name what the facts close or narrow under its own: a
/// carve-out or a part of one, the workspace, or for writing what is otherwise shown for reading.
constexpr bool shows_more_elsewhere(const confinement& facts, const shared_path& one) {
  if (one.source == one.target) return false;
  const auto is_carved = [&one](const carved_path& carve) {
    return contains(one.source, carve.path) || contains(carve.path, one.source);
  };
  if (contains(one.source, facts.workspace)) return true;
  if (std::ranges::any_of(facts.carve_outs, is_carved)) return true;
  if (one.access == root_access::read) return false;
  const bool is_narrowed = facts.access == workspace_access::read_only;
  if (is_narrowed && contains(facts.workspace, one.source)) return true;
  return std::ranges::any_of(facts.shared, [&one](const shared_path& other) {
    return other.access == root_access::read && contains(one.source, other.source);
  });
}

/// True when an entry of the visible tree is a link and something else is to be mounted at its path
/// or below it; in the workspace there may be anything.
constexpr bool is_mounted_through(const confinement& facts, const visible_path& entry) {
  if (entry.type != file_kind::link) return false;
  const auto is_below = [&entry](std::string_view place) { return contains(entry.path, place); };
  const auto is_another_below = [&](const visible_path& other) {
    return &other != &entry && is_below(other.path);
  };
  return is_below("/dev") || is_below("/dev/shm") || is_below("/proc") || is_below("/proc/sys") ||
         is_below("/tmp/home") || is_below(facts.workspace) ||
         contains(facts.workspace, entry.path) ||
         std::ranges::any_of(facts.visible, is_another_below) ||
         std::ranges::any_of(facts.shared, is_below, &shared_path::target) ||
         std::ranges::any_of(facts.hidden, is_below, &hidden_path::path) ||
         std::ranges::any_of(facts.hidden_files, is_below);
}

/// True for a place strictly below something that is shared under its own name, and apart from the
/// workspace.
constexpr bool is_below_shared(const confinement& facts, const std::string& place) {
  if (contains(facts.workspace, place) || contains(place, facts.workspace)) return false;
  return std::ranges::any_of(facts.shared, [&place](const shared_path& one) {
    return one.source == one.target && one.target != place && contains(one.target, place);
  });
}

/// True when a replaced path could show more than is meant: what it is taken from or laid over is not
/// shown itself, or what is written to through it has no cover under its own name.
constexpr bool is_replaced_unsafely(const confinement& facts, const replaced_path& one) {
  const auto covers = [&](const std::string& path) {
    return std::ranges::any_of(facts.covered,
                               [&path](const auto& place) { return contains(place, path); });
  };
  if (!is_canonical_form(one.source) || !is_canonical_form(one.target)) return true;
  if (!is_below_shared(facts, one.source) || !is_below_shared(facts, one.target)) return true;
  if (covers(one.target)) return true;
  return one.access == root_access::write && !covers(one.source);
}

/// A cover lies on nothing that anything else is shown at or below.
constexpr bool is_covered_unsafely(const confinement& facts, const std::string& place) {
  if (!is_canonical_form(place) || !is_below_shared(facts, place)) return true;
  return std::ranges::any_of(
      facts.shared, [&place](const shared_path& one) { return contains(place, one.target); });
}

/// The first fact that this dialect cannot say or that would open what another fact closes.
/// A name for it, or nothing:
///  1. a path that is not canonical could be read as an option or lead elsewhere
///  2. a carve-out or pinned directory that is not below the workspace narrows nothing
///  3. a carve-out that is a link can be replaced inside
///  4. a hidden place at or below the workspace, or below what is shared, would be uncovered
///  5. an egress list of a closed network: one of the two is a mistake
///  6. something shown under another name would show more there than its own name does
///  7. a link in the visible tree where something is to be mounted: bwrap would mount through it
///  8. something replaced that is not shown, or that could be written to under two names
constexpr std::string unsayable_fact(const confinement& facts) {
  const auto odd = [](const std::string& path) { return !is_canonical_form(path); };
  if (odd(facts.workspace)) return "workspace " + facts.workspace;
  if (odd(facts.directory)) return "directory " + facts.directory;
  if (facts.command.empty()) return "an empty command";
  if (!facts.egress.empty() && facts.network == network_access::off) {
    return "an egress list of a closed network";
  }
  for (const auto& carve : facts.carve_outs) {
    if (odd(carve.path) || carve.path == facts.workspace ||
        !contains(facts.workspace, carve.path) || carve.type == file_kind::link) {
      return "carve-out " + carve.path;
    }
  }
  for (const auto& path : facts.pinned) {
    if (odd(path) || path == facts.workspace || !contains(facts.workspace, path)) {
      return "pinned directory " + path;
    }
  }
  for (const auto& path : facts.shared) {
    if (odd(path.source) || odd(path.target) || shows_more_elsewhere(facts, path)) {
      return "shared path " + path.target;
    }
  }
  for (const auto& one : facts.replaced) {
    if (is_replaced_unsafely(facts, one)) return "replaced path " + one.target;
  }
  for (const auto& place : facts.covered) {
    if (is_covered_unsafely(facts, place)) return "replaced path " + place;
  }
  for (const auto& place : facts.hidden) {
    if (odd(place.path)) return "hidden place " + place.path;
  }
  for (const auto& path : facts.hidden_files) {
    if (odd(path)) return "hidden file " + path;
  }
  for (const auto& entry : facts.visible) {
    if (odd(entry.path) || entry.target.contains('\0') || is_mounted_through(facts, entry)) {
      return "visible path " + entry.path;
    }
  }
  return {};
}

/// True for a place at, above or inside the sandbox's own /proc and /dev (but for folders in
/// /dev/shm): what is shown there would put the host's in their place.
constexpr bool reopens_system(std::string_view target) {
  if (contains(target, "/proc") || contains(target, "/dev")) return true;
  if (contains("/dev/shm", target)) return target == "/dev/shm";
  return contains("/proc", target) || contains("/dev", target);
}

/// The hidden place that something shown would uncover, or that would cover the sandbox's own /proc
/// and /dev or lie in what is closed there; or nothing.
constexpr std::string uncovered_place(const confinement& facts) {
  const auto uncovers = [&facts](const std::string& hidden) {
    return contains(facts.workspace, hidden) ||
           std::ranges::any_of(facts.shared, [&](const auto& path) {
             return contains(path.target, hidden) || contains(path.source, hidden);
           });
  };
  for (const auto& place : facts.hidden) {
    if (uncovers(place.path) || reopens_system(place.path)) return place.path;
  }
  for (const auto& path : facts.hidden_files) {
    if (uncovers(path) || contains("/dev", path)) return path;
  }
  if (reopens_system(facts.workspace)) return facts.workspace;
  for (const auto& path : facts.shared) {
    if (reopens_system(path.target)) return path.target;
  }
  return {};
}

/// True when two places can be mounted whatever their order: apart, or the same tree on both sides.
/// Otherwise the mount point of the inner one would be made in what the outer one shows, in a
/// folder of the host, and through any link that a command left there.
constexpr bool fit_together(const shared_path& outer, const shared_path& inner) {
  const bool is_as_on_the_host = outer.source == outer.target && inner.source == inner.target;
  return is_as_on_the_host || !contains(outer.target, inner.target);
}

/// A shared path that does not fit with another one or with the workspace, or nothing.
constexpr std::string_view misfit_among(const confinement& facts) {
  shared_path workspace;
  workspace.source = workspace.target = facts.workspace;
  for (std::size_t i = 0; i < facts.shared.size(); ++i) {
    const auto& one = facts.shared[i];
    if (!fit_together(workspace, one) || !fit_together(one, workspace)) return one.target;
    for (std::size_t j = 0; j < facts.shared.size(); ++j) {
      if (i != j && !fit_together(one, facts.shared[j])) return facts.shared[j].target;
    }
  }
  return {};
}

}  // namespace pinfold::detail
