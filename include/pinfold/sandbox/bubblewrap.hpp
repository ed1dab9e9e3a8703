// The Linux dialect: a confinement as the argument vector of bubblewrap (bwrap 0.8 or newer).
// Pure: it reads no disk and starts nothing. It never drops a fact: what it cannot say is an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <utility>
#include <vector>

#include <pinfold/refusal.hpp>
#include <pinfold/sandbox/bubblewrap_facts.hpp>
#include <pinfold/sandbox/bubblewrap_mounts.hpp>
#include <pinfold/sandbox/launch_plan.hpp>

namespace pinfold {

/// bwrap refuses more than 9000 arguments (bubblewrap.c, MAX_ARGS); a plan stays well below.
inline constexpr std::size_t most_bubblewrap_options = 4096;
inline constexpr std::size_t most_words_of_a_mount = 6;

namespace detail {

constexpr bool is_bind(const mount& one) {
  return one.kind == mount_kind::bind || one.kind == mount_kind::ro_bind;
}

/// What a mount lands on: the last one before it at or above its place; null when that is the empty
/// root of the minimal profile.
constexpr const mount* landing_of(const std::vector<mount>& mounts, const mount& one) {
  const mount* found = nullptr;
  for (const auto& below : mounts) {
    if (&below == &one) break;
    const bool makes_one = is_bind(below) || below.kind == mount_kind::tmpfs ||
                           below.kind == mount_kind::proc || below.kind == mount_kind::dev;
    if (makes_one && contains(below.target, one.target)) found = &below;
  }
  return found;
}

/// Whether anything lands on it.
constexpr bool is_landed_on(const std::vector<mount>& mounts, const mount& one) {
  return std::ranges::any_of(mounts, [&](const mount& other) {
    const bool may_stay = other.kind == mount_kind::remount_ro && other.target == one.target;
    return &other != &one && !may_stay && landing_of(mounts, other) == &one;
  });
}

/// Whether the runner attaches it by descriptor (launch_plan::attached): everything that lands on what
/// the host shows, but for the sandbox's own /dev and /proc, and for a hidden place into which
/// something is shown: once that is covered, nothing can be copied out of it. What lands on an empty
/// file system of this sandbox is out of everybody's reach.
constexpr bool is_attached(const std::vector<mount>& mounts, const mount& one) {
  if (one.role == mount_role::root || one.role == mount_role::system) return false;
  if (one.kind == mount_kind::directory || one.kind == mount_kind::symbolic_link) return false;
  const auto* below = landing_of(mounts, one);
  if (below == nullptr) return false;
  if (one.kind == mount_kind::remount_ro) return is_attached(mounts, *below);
  if (!is_bind(*below)) return false;
  return one.kind != mount_kind::tmpfs || one.role == mount_role::carve_out || !is_landed_on(mounts, one);
}

/// Attaching is done from inside the boundary, where nothing has another name than outside.
constexpr bool can_be_attached(const mount& one) {
  if (one.role == mount_role::replaced) return true;  // its source is shown under its own name
  if (is_bind(one)) return one.source == one.target || one.source == "/dev/null";
  return one.kind == mount_kind::tmpfs || one.kind == mount_kind::remount_ro;
}

}  // namespace detail

/// The backend that makes a boundary on Linux, by bubblewrap. A pure function from facts to a plan.
struct bubblewrap {
  std::string program{
      "/usr/bin/bwrap"};  ///< absolute; whether it can be trusted is the runner's to ask

  /// The plan for these facts. The text of the confinement is copied. Errors: `not_enforceable`,
  /// naming the fact, also for a place that is shown under another name inside of another one or
  /// around it; `workspace_too_broad` when the workspace or a shared path would uncover a hidden
  /// place.
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
    if (const auto misfit = detail::misfit_among(facts); !misfit.empty()) {
      return std::unexpected{
          not_enforceable("shared path " + std::string{misfit}, backend_name::bubblewrap)};
    }
    launch_plan plan;
    plan.backend = backend_name::bubblewrap;
    plan.program = program;
    plan.command = facts.command;
    plan.environment = facts.environment;
    plan.directory = facts.directory;
    plan.workspace = facts.workspace;
    plan.network = network_of(facts);
    plan.egress = facts.egress;
    plan.nesting = facts.nesting;
    plan.mounts = mounts_of(facts);
    std::vector<mount> by_path;
    for (const auto& one : plan.mounts) {
      const bool is_meant = detail::is_attached(plan.mounts, one);
      const bool by_descriptor = is_meant && detail::can_be_attached(one);
      const auto would_cover = [&one](const mount& later) { return contains(later.target, one.target); };
      if (is_meant && !by_descriptor && std::ranges::any_of(plan.attached, would_cover)) {
        return std::unexpected{
            not_enforceable("under another name, " + one.target, backend_name::bubblewrap)};
      }
      (by_descriptor ? plan.attached : by_path).push_back(one);
    }
    plan.options = options_of(facts, by_path);
    if (plan.options.size() + most_words_of_a_mount * plan.attached.size() >
        most_bubblewrap_options) {
      return std::unexpected{
          not_enforceable("more mounts than bwrap takes arguments for", backend_name::bubblewrap)};
    }
    return plan;
  }

 private:
  /// bwrap knows no hosts: with a list the sandbox has no network at all, and whoever runs the plan
  /// serves the list from outside.
  [[nodiscard]] static constexpr network_access network_of(const confinement& facts) {
    return facts.egress.empty() ? facts.network : network_access::off;
  }

  /// The mount table, in order; each step may only narrow or show what the ones before it left:
  ///  1. the machine, read-only, or the few places of the minimal profile
  ///  2. /dev and /proc, closed
  ///  3. hidden and scratch places, over the machine
  ///  4. what is shown: workspace, read and write roots, into the hidden places
  ///  5. carve-outs, over the workspace
  ///  6. what is shown in the place of something else, then the covers over where it came from
  ///  7. everything hidden becomes read-only
  [[nodiscard]] static constexpr std::vector<mount> mounts_of(const confinement& facts) {
    detail::mount_list list;
    detail::mount_root(list, facts);
    detail::mount_system(list, facts);
    detail::mount_hidden(list, facts);
    detail::mount_shown(list, facts);
    detail::mount_carve_outs(list, facts);
    detail::mount_replaced(list, facts);
    detail::close_hidden(list, facts);
    return std::move(list).take();
  }

  /// All namespaces are new and every capability is dropped even for uid 0. `--disable-userns` is not
  /// here, since stage two makes one more namespace to lock the mounts in; the runner sets the same
  /// limit. `--die-with-parent` is left out on purpose: a
  /// bwrap that it kills between its clone and the word to its child leaves that child waiting on
  /// an eventfd for ever, with the workspace's lock in hand. The runner's channel to stage two ends
  /// a run whose runner is gone.
  [[nodiscard]] static constexpr std::vector<std::string> options_of(
      const confinement& facts, const std::vector<mount>& mounts) {
    std::vector<std::string> argv{"--unshare-user", "--unshare-ipc", "--unshare-pid",
                                  "--unshare-uts", "--unshare-cgroup"};
    if (network_of(facts) == network_access::off) argv.emplace_back("--unshare-net");
    for (auto word : {"--cap-drop", "ALL", "--new-session"}) argv.emplace_back(word);
    for (const auto& one : mounts) detail::append_mount(argv, one);
    argv.emplace_back("--chdir");
    argv.push_back(facts.directory);
    return argv;
  }
};

}  // namespace pinfold
