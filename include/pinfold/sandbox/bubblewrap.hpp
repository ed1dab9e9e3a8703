// The Linux dialect: a confinement as the argument vector of bubblewrap (bwrap 0.8 or newer).
// Pure: it reads no disk and starts nothing. It never drops a fact: what it cannot say is an error.
#pragma once

#include <algorithm>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinfold/path.hpp>
#include <pinfold/refusal.hpp>
#include <pinfold/sandbox/launch_plan.hpp>

namespace pinfold {

/// bwrap refuses more than 9000 arguments (bubblewrap.c, MAX_ARGS); a plan stays well below.
inline constexpr std::size_t most_bubblewrap_options = 4096;

namespace detail {

constexpr std::string digits(std::uint64_t value, unsigned base) {
  std::string text;
  do {
    text.insert(text.begin(), static_cast<char>('0' + value % base));
    value /= base;
  } while (value != 0);
  return text;
}

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

constexpr void mount_hidden(mount_list& list, const confinement& facts) {
  for (const auto& place : facts.hidden) {
    if (place.contents == hidden_path::use::scratch) {
      list.tmpfs(mount_role::scratch, place.path, facts.scratch_bytes, 01777);
    } else {
      list.tmpfs(mount_role::hidden, place.path, closed_bytes, 0755);
    }
  }
  list.add(mount_kind::directory, mount_role::scratch, "/tmp/home");
  for (const auto& path : facts.hidden_files) {
    list.bind(mount_role::hidden, "/dev/null", path, root_access::read);
  }
}

/// The workspace and what else is shown, parents before what lies below them.
constexpr void mount_shown(mount_list& list, const confinement& facts) {
  const auto access =
      facts.access == workspace_access::read_write ? root_access::write : root_access::read;
  std::vector<const shared_path*> shown;
  for (const auto& path : facts.shared) shown.push_back(&path);
  std::ranges::sort(shown, {},
                    [](const shared_path* path) -> std::string_view { return path->target; });
  bool is_mounted = false;
  const auto mount_workspace = [&] {
    if (!is_mounted) list.bind(mount_role::workspace, facts.workspace, facts.workspace, access);
    is_mounted = true;
  };
  for (const auto* path : shown) {
    if (path->target > facts.workspace) mount_workspace();
    const bool is_socket = path->purpose == shared_path::use::socket;
    list.bind(is_socket ? mount_role::socket : mount_role::shared, path->source, path->target,
              path->access);
  }
  mount_workspace();
  for (const auto& path : facts.pinned) list.bind(mount_role::pinned, path, path, access);
}

constexpr void mount_carve_outs(mount_list& list, const confinement& facts) {
  for (const auto& carve : facts.carve_outs) {
    const bool hidden =
        carve.kind == carve_kind::harness_state && carve.shell == carved_path::shown::hidden;
    if (!hidden) {
      list.bind(mount_role::carve_out, carve.path, carve.path, root_access::read);
    } else if (carve.type == file_kind::file) {
      list.bind(mount_role::carve_out, "/dev/null", carve.path, root_access::read);
    } else {
      list.tmpfs(mount_role::carve_out, carve.path, 4096, 0555);
      list.add(mount_kind::remount_ro, mount_role::carve_out, carve.path);
    }
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

constexpr void append_mount(std::vector<std::string>& argv, const mount& one) {
  const auto add = [&argv](auto&&... words) { (argv.emplace_back(words), ...); };
  switch (one.kind) {
    case mount_kind::bind:
      add("--bind", one.source, one.target);
      break;
    case mount_kind::ro_bind:
      add("--ro-bind", one.source, one.target);
      break;
    case mount_kind::tmpfs:
      add("--perms", digits(one.mode, 8), "--size", digits(one.size, 10), "--tmpfs", one.target);
      break;
    case mount_kind::proc:
      add("--proc", one.target);
      break;
    case mount_kind::dev:
      add("--dev", one.target);
      break;
    case mount_kind::directory:
      add("--dir", one.target);
      break;
    case mount_kind::symbolic_link:
      add("--symlink", one.source, one.target);
      break;
    case mount_kind::remount_ro:
      add("--remount-ro", one.target);
      break;
  }
}

/// The first fact that this dialect cannot say or that would open what another fact closes.
/// A name for it, or nothing:
///  1. a path that is not canonical could be read as an option or lead elsewhere
///  2. a carve-out or pinned directory that is not below the workspace narrows nothing
///  3. a carve-out that is a link can be replaced inside
///  4. a hidden place at or below the workspace, or below what is shared, would be uncovered
///  5. names in the egress list: bwrap knows no hosts
constexpr std::string unsayable_fact(const confinement& facts) {
  const auto odd = [](const std::string& path) { return !is_canonical_form(path); };
  if (odd(facts.workspace)) return "workspace " + facts.workspace;
  if (odd(facts.directory)) return "directory " + facts.directory;
  if (facts.command.empty()) return "an empty command";
  if (!facts.egress.empty()) return "an egress list";
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
    if (odd(path.source) || odd(path.target)) return "shared path " + path.target;
  }
  for (const auto& place : facts.hidden) {
    if (odd(place.path)) return "hidden place " + place.path;
  }
  for (const auto& path : facts.hidden_files) {
    if (odd(path)) return "hidden file " + path;
  }
  for (const auto& entry : facts.visible) {
    if (odd(entry.path)) return "visible path " + entry.path;
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

/// The hidden place that something shown would uncover, or nothing.
constexpr std::string uncovered_place(const confinement& facts) {
  const auto uncovers = [&facts](const std::string& hidden) {
    return contains(facts.workspace, hidden) ||
           std::ranges::any_of(facts.shared,
                               [&](const auto& path) { return contains(path.target, hidden); });
  };
  for (const auto& place : facts.hidden) {
    if (uncovers(place.path)) return place.path;
  }
  for (const auto& path : facts.hidden_files) {
    if (uncovers(path)) return path;
  }
  if (reopens_system(facts.workspace)) return facts.workspace;
  for (const auto& path : facts.shared) {
    if (reopens_system(path.target)) return path.target;
  }
  return {};
}

}  // namespace detail

struct bubblewrap {
  std::string program{
      "/usr/bin/bwrap"};  ///< absolute; whether it can be trusted is the runner's to ask

  /// The plan for these facts. The text of the confinement is copied. Errors: `not_enforceable`,
  /// naming the fact; `workspace_too_broad` when the workspace or a shared path would uncover a
  /// hidden place.
  [[nodiscard]] constexpr std::expected<launch_plan, refusal> wrap(const confinement& facts) const {
    if (const auto fact = detail::unsayable_fact(facts); !fact.empty()) {
      return std::unexpected{not_enforceable(fact, backend_name::bubblewrap)};
    }
    if (auto place = detail::uncovered_place(facts); !place.empty()) {
      refusal broad = not_enforceable(facts.workspace, backend_name::bubblewrap);
      broad.error = code::workspace_too_broad;
      broad.boundary = place;
      broad.detail = "what is shown would uncover a hidden place";
      return std::unexpected{std::move(broad)};
    }
    launch_plan plan;
    plan.backend = backend_name::bubblewrap;
    plan.program = program;
    plan.command = facts.command;
    plan.environment = facts.environment;
    plan.directory = facts.directory;
    plan.workspace = facts.workspace;
    plan.network = facts.network;
    plan.nesting = facts.nesting;
    plan.mounts = mounts_of(facts);
    plan.options = options_of(facts, plan.mounts);
    if (plan.options.size() > most_bubblewrap_options) {
      return std::unexpected{
          not_enforceable("more mounts than bwrap takes arguments for", backend_name::bubblewrap)};
    }
    return plan;
  }

 private:
  /// The mount table, in order; each step may only narrow or show what the ones before it left:
  ///  1. the machine, read-only, or the few places of the minimal profile
  ///  2. /dev and /proc, closed
  ///  3. hidden and scratch places, over the machine
  ///  4. what is shown: workspace, read and write roots, into the hidden places
  ///  5. carve-outs, over the workspace
  ///  6. everything hidden becomes read-only
  [[nodiscard]] static constexpr std::vector<mount> mounts_of(const confinement& facts) {
    detail::mount_list list;
    detail::mount_root(list, facts);
    detail::mount_system(list, facts);
    detail::mount_hidden(list, facts);
    detail::mount_shown(list, facts);
    detail::mount_carve_outs(list, facts);
    detail::close_hidden(list, facts);
    return std::move(list).take();
  }

  /// All namespaces are new, every capability is dropped even for uid 0, and no user namespace can
  /// be made inside unless nesting was asked for. `--die-with-parent` is left out on purpose: a
  /// bwrap that it kills between its clone and the word to its child leaves that child waiting on an
  /// eventfd for ever, with the workspace's lock in hand. The runner's channel to stage two ends a
  /// run whose runner is gone.
  [[nodiscard]] static constexpr std::vector<std::string> options_of(
      const confinement& facts, const std::vector<mount>& mounts) {
    std::vector<std::string> argv{"--unshare-user", "--unshare-ipc", "--unshare-pid",
                                  "--unshare-uts", "--unshare-cgroup"};
    if (facts.network == network_access::off) argv.emplace_back("--unshare-net");
    if (facts.nesting == nested_namespaces::forbidden) argv.emplace_back("--disable-userns");
    for (auto word : {"--cap-drop", "ALL", "--new-session"}) argv.emplace_back(word);
    for (const auto& one : mounts) detail::append_mount(argv, one);
    argv.emplace_back("--chdir");
    argv.push_back(facts.directory);
    return argv;
  }
};

}  // namespace pinfold
