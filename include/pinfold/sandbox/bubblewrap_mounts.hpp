// The mount table of bubblewrap's plan: what is made, and in which order. Pure data from facts that
// were looked at before (bubblewrap_facts.hpp); it must never show more than they say.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinfold/path.hpp>
#include <pinfold/sandbox/launch_plan.hpp>

namespace pinfold::detail {

/// Collects the mounts of a plan. The order of the calls in `mounts_of` is the boundary. (Entries
/// are made in place: g++ 12 cannot pass an aggregate of strings by value in a constant
/// expression.)
class mount_list {
 public:
  constexpr void bind(mount_role role, const std::string& source, const std::string& target,
                      root_access access) {
    const auto kind = access == root_access::write ? mount_kind::bind : mount_kind::ro_bind;
    add(kind, role, target).source = source;
  }
  constexpr void tmpfs(mount_role role, const std::string& target, std::uint64_t size,
                       unsigned mode) {
    auto& one = add(mount_kind::tmpfs, role, target);
    one.size = size;
    one.mode = mode;
  }
  constexpr mount& add(mount_kind kind, mount_role role, const std::string& target) {
    auto& one = mounts_.emplace_back();
    one.kind = kind;
    one.role = role;
    one.target = target;
    return one;
  }
  constexpr std::vector<mount> take() && { return std::move(mounts_); }

 private:
  std::vector<mount> mounts_;
};

/// A hidden place holds nothing but mount points; it is writable only until it is closed.
inline constexpr std::uint64_t closed_bytes = 1 << 20;

constexpr void mount_root(mount_list& list, const confinement& facts) {
  if (facts.root == root_profile::host) {
    list.bind(mount_role::root, "/", "/", root_access::read);
  }
  for (const auto& entry : facts.visible) {
    if (entry.type == file_kind::link) {
      list.add(mount_kind::symbolic_link, mount_role::root, entry.path).source = entry.target;
    } else {
      list.bind(mount_role::root, entry.path, entry.path, root_access::read);
    }
  }
}

/// /proc/sys stays writable for uid 0 without any capability (763 files on Linux 6.18), so it is
/// bound read-only over itself. bwrap's /dev is a tmpfs without a size, so it is closed.
constexpr void mount_system(mount_list& list, const confinement& facts) {
  list.add(mount_kind::dev, mount_role::system, "/dev");
  list.tmpfs(mount_role::scratch, "/dev/shm", facts.scratch_bytes, 01777);
  list.add(mount_kind::remount_ro, mount_role::system, "/dev");
  list.add(mount_kind::proc, mount_role::system, "/proc");
  list.bind(mount_role::system, "/proc/sys", "/proc/sys", root_access::read);
}

/// Outer places before what lies in them, or the outer one would cover the inner.
constexpr void mount_hidden(mount_list& list, const confinement& facts) {
  std::vector<const hidden_path*> places;
  for (const auto& place : facts.hidden) places.push_back(&place);
  std::ranges::sort(places, {},
                    [](const hidden_path* place) -> std::string_view { return place->path; });
  for (const auto* place : places) {
    if (place->contents == hidden_path::use::scratch) {
      list.tmpfs(mount_role::scratch, place->path, facts.scratch_bytes, 01777);
    } else {
      list.tmpfs(mount_role::hidden, place->path, closed_bytes, 0755);
    }
  }
  list.add(mount_kind::directory, mount_role::scratch, "/tmp/home");
  for (const auto& path : facts.hidden_files) {
    list.bind(mount_role::hidden, "/dev/null", path, root_access::read);
  }
}

/// What is shown, outer places first; of two entries for one place the one for reading comes last.
constexpr std::vector<const shared_path*> shared_in_order(const confinement& facts) {
  std::vector<const shared_path*> shown;
  for (const auto& path : facts.shared) shown.push_back(&path);
  std::ranges::sort(shown, [](const shared_path* a, const shared_path* b) {
    if (a->target != b->target) return a->target < b->target;
    return a->access == root_access::write && b->access == root_access::read;
  });
  return shown;
}

/// The directories below the workspace that have to be mount points, outer ones first: the pinned
/// ones, and every one on the way to a carve-out, or renaming it would take the carve-out along.
constexpr std::vector<std::string_view> pinned_in_order(const confinement& facts) {
  std::vector<std::string_view> pinned(facts.pinned.begin(), facts.pinned.end());
  for (const auto& carve : facts.carve_outs) {
    for (auto above = parent_of(carve.path); above.size() > facts.workspace.size();
         above = parent_of(above)) {
      pinned.push_back(above);
    }
  }
  std::ranges::sort(pinned);
  const auto [first, last] = std::ranges::unique(pinned);
  pinned.erase(first, last);
  return pinned;
}

/// A pinned directory shows what the place shows that holds it, with no more access: the workspace,
/// or something shared below it.
constexpr void mount_pinned(mount_list& list, const confinement& facts, std::string_view path,
                            root_access of_workspace) {
  const shared_path* around = nullptr;
  for (const auto* one : shared_in_order(facts)) {
    if (contains(facts.workspace, one->target) && one->target != facts.workspace &&
        contains(one->target, path)) {
      around = one;
    }
  }
  const std::string target{path};
  if (around == nullptr) return list.bind(mount_role::pinned, target, target, of_workspace);
  if (around->target == target) return;  // a mount point already
  auto source = around->source == "/" ? std::string{} : around->source;
  source += target.substr(around->target.size());
  list.bind(mount_role::pinned, source, target, around->access);
}

/// The workspace, what else is shown and what is pinned, all of it parents before what lies below.
constexpr void mount_shown(mount_list& list, const confinement& facts) {
  const auto access =
      facts.access == workspace_access::read_write ? root_access::write : root_access::read;
  const auto pinned = pinned_in_order(facts);
  auto next = pinned.begin();
  bool is_mounted = false;
  const auto mount_workspace_before = [&](const std::string* place) {
    if (place != nullptr && *place <= facts.workspace) return;
    if (!is_mounted) list.bind(mount_role::workspace, facts.workspace, facts.workspace, access);
    is_mounted = true;
    for (; next != pinned.end() && (place == nullptr || *next < *place); ++next) {
      mount_pinned(list, facts, *next, access);
    }
  };
  for (const auto* path : shared_in_order(facts)) {
    mount_workspace_before(&path->target);
    const bool is_socket = path->purpose == shared_path::use::socket;
    list.bind(is_socket ? mount_role::socket : mount_role::shared, path->source, path->target,
              path->access);
  }
  mount_workspace_before(nullptr);
}

constexpr bool is_kept_from_sight(const carved_path& carve) {
  return carve.kind == carve_kind::harness_state && carve.shell == carved_path::shown::hidden;
}

/// Outer carve-outs first, and of two for one place the hidden one. What lies in a hidden one is
/// covered with it, and nothing of it may be shown again.
constexpr void mount_carve_outs(mount_list& list, const confinement& facts) {
  std::vector<const carved_path*> carves;
  for (const auto& carve : facts.carve_outs) carves.push_back(&carve);
  std::ranges::sort(carves, [](const carved_path* a, const carved_path* b) {
    if (a->path != b->path) return a->path < b->path;
    return is_kept_from_sight(*a) && !is_kept_from_sight(*b);
  });
  const carved_path* cover = nullptr;
  for (const auto* carve : carves) {
    if (cover != nullptr && contains(cover->path, carve->path)) continue;
    if (!is_kept_from_sight(*carve)) {
      list.bind(mount_role::carve_out, carve->path, carve->path, root_access::read);
      continue;
    }
    cover = carve;
    if (carve->type == file_kind::file) {
      list.bind(mount_role::carve_out, "/dev/null", carve->path, root_access::read);
    } else {
      list.tmpfs(mount_role::carve_out, carve->path, 4096, 0555);
      list.add(mount_kind::remount_ro, mount_role::carve_out, carve->path);
    }
  }
}

/// Each one sees what the ones before it made. The covers come last, since what they cover is the
/// source of the others.
constexpr void mount_replaced(mount_list& list, const confinement& facts) {
  for (const auto& one : facts.replaced) {
    list.bind(mount_role::replaced, one.source, one.target, one.access);
  }
  for (const auto& place : facts.covered) {
    list.tmpfs(mount_role::replaced, place, 4096, 0555);
    list.add(mount_kind::remount_ro, mount_role::replaced, place);
  }
}

/// After everything that is bound back into them, the hidden places become read-only.
constexpr void close_hidden(mount_list& list, const confinement& facts) {
  for (const auto& place : facts.hidden) {
    if (place.contents == hidden_path::use::closed) {
      list.add(mount_kind::remount_ro, mount_role::hidden, place.path);
    }
  }
  if (facts.root == root_profile::minimal) {
    list.add(mount_kind::remount_ro, mount_role::root, "/");
  }
}

}  // namespace pinfold::detail
