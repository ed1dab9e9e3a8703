#include "plan/laws.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include <pinfold/path.hpp>
#include <pinfold/sandbox/seatbelt.hpp>

#include "plan/facts.hpp"
#include "plan/view.hpp"
#include "support/target.hpp"

namespace pinfold_fuzz {

using namespace pinfold;

namespace {

using finding = std::optional<std::string>;

finding at(std::string_view law, std::string_view place) {
  return std::string{law} + ": " + quoted(place);
}

bool is_hidden(const carved_path& carve) {
  return carve.kind == carve_kind::harness_state && carve.shell == carved_path::shown::hidden;
}

/// What the facts say of the host's objects, by the plainest reading.
class reading {
 public:
  explicit reading(const confinement& facts) : facts_{facts} {}

  [[nodiscard]] bool is_carved(std::string_view host) const {
    return std::ranges::any_of(facts_.carve_outs,
                               [&](const auto& one) { return contains(one.path, host); });
  }
  [[nodiscard]] bool is_kept_from_sight(std::string_view host) const {
    return std::ranges::any_of(facts_.carve_outs, [&](const auto& one) {
      return is_hidden(one) && contains(one.path, host);
    });
  }
  /// Writable: no carve-out, and the innermost of what is shown of it is shown for writing.
  [[nodiscard]] bool may_be_written(std::string_view host) const {
    if (is_carved(host)) return false;
    const auto depth = shown_depth(host);
    if (depth == 0) return false;
    const bool is_workspace = contains(facts_.workspace, host) && facts_.workspace.size() == depth;
    if (is_workspace) return facts_.access == workspace_access::read_write;
    return std::ranges::none_of(facts_.shared, [&](const auto& one) {
      return contains(one.source, host) && one.source.size() == depth &&
             one.access == root_access::read && one.source == one.target;
    });
  }
  /// Readable: neither in harness state nor covered by a hidden place further in than what shows
  /// it.
  [[nodiscard]] bool may_be_read(std::string_view host) const {
    if (is_kept_from_sight(host)) return false;
    const auto depth = shown_depth(host);
    const auto covers = [&](std::string_view hidden) {
      return contains(hidden, host) && hidden.size() >= depth;
    };
    return std::ranges::find(facts_.hidden_files, host) == facts_.hidden_files.end() &&
           std::ranges::none_of(facts_.hidden, covers, &hidden_path::path);
  }
  /// Under the minimal root only what is named can be seen at all.
  [[nodiscard]] bool is_named(std::string_view host) const {
    if (facts_.root == root_profile::host || shown_depth(host) > 0) return true;
    return std::ranges::any_of(facts_.visible, [&](const auto& one) {
      return one.type != file_kind::link && contains(one.path, host);
    });
  }

 private:
  /// The length of the innermost place shown that holds it; 0 for none.
  [[nodiscard]] std::size_t shown_depth(std::string_view host) const {
    std::size_t depth = contains(facts_.workspace, host) ? facts_.workspace.size() : 0;
    for (const auto& one : facts_.shared) {
      if (contains(one.source, host)) depth = std::max(depth, one.source.size());
    }
    return depth;
  }

  const confinement& facts_;
};

finding check_sight(const reading& said, const std::string& place, const sight& seen) {
  if (!seen.host) return std::nullopt;
  if (seen.is_writable && !said.may_be_written(*seen.host)) {
    return at("nothing is writable but what the facts show for writing", place);
  }
  if (seen.is_readable && !said.may_be_read(*seen.host)) {
    return at("nothing hidden can be read", place);
  }
  return std::nullopt;
}

// --- bubblewrap ----------------------------------------------------------------------------------

/// Whether the two lists are the whole one, each in its order; equal mounts are in one list alone.
bool are_in_order(const std::vector<mount>& whole, const std::vector<mount>& one,
                  const std::vector<mount>& other) {
  auto at_one = one.begin();
  auto at_other = other.begin();
  for (const auto& next : whole) {
    if (at_one != one.end() && *at_one == next) {
      ++at_one;
    } else if (at_other != other.end() && *at_other == next) {
      ++at_other;
    } else {
      return false;
    }
  }
  return at_one == one.end() && at_other == other.end();
}

finding check_options(const confinement& facts, const launch_plan& plan) {
  for (const auto& word : plan.options) {
    if (word.contains('\0')) return at("no option holds a NUL byte", word);
  }
  const auto parsed = parse_options(plan.options);
  if (!parsed) return "the options are those of a plan";
  if (parsed->directory != facts.directory) return at("the directory", parsed->directory);
  auto expected = plan.mounts;
  auto said = parsed->mounts;
  auto attached = plan.attached;
  const auto forget_role = [](std::vector<mount>& list) {
    for (auto& one : list) {
      one.role = mount_role::root;
      if (one.kind != mount_kind::tmpfs) one.mode = 0755;
    }
  };
  forget_role(expected);
  forget_role(said);
  forget_role(attached);
  if (!are_in_order(expected, said, attached)) {
    return "the options and what is attached say exactly the mounts";
  }
  const auto has = [&](std::string_view word) {
    return std::ranges::find(parsed->words, word) != parsed->words.end();
  };
  for (auto word : {"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
                    "--unshare-cgroup", "--cap-drop ALL", "--new-session"}) {
    if (!has(word)) return at("what every plan asks for", word);
  }
  if (has("--unshare-net") != (plan.network == network_access::off)) return "the network";
  // Stage two sees to it: what bwrap forbids, it would forbid stage two as well.
  if (has("--disable-userns") || plan.nesting != facts.nesting) {
    return "user namespaces inside";
  }
  return std::nullopt;
}

/// True when what stands at `place` after the first `count` mounts was closed again by then.
bool is_closed_by_then(const launch_plan& plan, std::size_t count, std::string_view place) {
  bool is_closed = false;
  std::string_view top;
  for (const auto& one : std::span{plan.mounts}.first(count)) {
    if (one.kind == mount_kind::remount_ro) {
      if (one.target == top) is_closed = true;
    } else if (one.kind != mount_kind::directory && contains(one.target, place)) {
      top = one.target;
      is_closed = false;
    }
  }
  return is_closed;
}

/// bwrap makes mount points, which it cannot in what is closed already; and it goes through links.
finding check_order(const launch_plan& plan) {
  for (std::size_t i = 0; i < plan.mounts.size(); ++i) {
    const auto& one = plan.mounts[i];
    if (one.kind == mount_kind::symbolic_link) {
      for (const auto& other : plan.mounts) {
        if (&other == &one || !contains(one.target, other.target)) continue;
        return at("nothing is mounted through a link", other.target);
      }
    }
    const auto above = parent_of(one.target);
    if (one.kind != mount_kind::remount_ro && is_closed_by_then(plan, i, above)) {
      return at("a place is closed after everything in it is made", one.target);
    }
  }
  return std::nullopt;
}

/// A mount point keeps its name; a directory on the way to a carve-out that is none can be renamed.
finding check_names(const confinement& facts, const mounted_view& view) {
  const reading said{facts};
  const auto is_kept = [&](std::string_view place) {
    const auto* over = view.over(place);
    return over != nullptr && (over->target == place || over->role == mount_role::carve_out);
  };
  for (const auto& path : facts.pinned) {
    if (!is_kept(path)) return at("a pinned directory is a mount point", path);
  }
  for (const auto& carve : facts.carve_outs) {
    for (auto above = carve.path; above.size() > facts.workspace.size(); above = parent_of(above)) {
      if (!is_kept(above)) return at("the way to a carve-out is made of mount points", above);
    }
  }
  return std::nullopt;
}

finding check_bubblewrap(const confinement& facts, const launch_plan& plan) {
  if (auto found = check_options(facts, plan)) return found;
  if (auto found = check_order(plan)) return found;
  const mounted_view view{plan};
  if (auto found = check_names(facts, view)) return found;
  const reading said{facts};
  for (const auto& place : places_of(facts)) {
    if (!is_canonical_form(place)) continue;
    const auto seen = view.at(place);
    if (auto found = check_sight(said, place, seen)) return found;
    if (!seen.host) continue;
    const bool is_sysctl = contains("/proc/sys", place) && !seen.is_writable;
    const bool is_memory = contains("/dev/shm", place) && place != "/dev/shm";
    if (!is_sysctl && !said.is_named(*seen.host)) {
      return at("a minimal root shows only what is named", place);
    }
    if ((contains("/proc", place) || contains("/dev", place)) && !is_sysctl && !is_memory) {
      return at("/proc and /dev are the sandbox's own", place);
    }
  }
  return std::nullopt;
}

// --- seatbelt ------------------------------------------------------------------------------------

finding check_seatbelt(const confinement& facts, const launch_plan& plan) {
  const profiled_view view{plan};
  if (view.allows("network-outbound", "x") != (facts.network == network_access::on)) {
    return "the network";
  }
  const reading said{facts};
  for (const auto& place : places_of(facts)) {
    if (!is_canonical_form(place)) continue;
    if (std::ranges::find(seatbelt_devices, place) != seatbelt_devices.end()) continue;
    if (auto found = check_sight(said, place, view.at(place))) return found;
  }
  for (const auto& carve : facts.carve_outs) {
    for (auto above = carve.path; above.size() >= facts.workspace.size();
         above = parent_of(above)) {
      if (view.allows("file-write-unlink", above)) {
        return at("what holds a carve-out keeps its name", above);
      }
      if (above.size() == 1) break;
    }
  }
  for (const auto& path : facts.pinned) {
    if (view.allows("file-write-unlink", path)) return at("a pinned directory", path);
  }
  return std::nullopt;
}

finding check_none(const confinement& facts, const launch_plan& plan) {
  const bool asks_for_nothing =
      facts.network == network_access::on && facts.access == workspace_access::read_write &&
      facts.root == root_profile::host && facts.carve_outs.empty() && facts.pinned.empty() &&
      facts.hidden.empty() && facts.hidden_files.empty() && facts.shared.empty() &&
      facts.visible.empty() && facts.egress.empty();
  if (!asks_for_nothing || !plan.options.empty() || !plan.mounts.empty()) {
    return "without a boundary there is a plan only when none is asked for";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> broken_law(const confinement& facts, const launch_plan& plan) {
  const auto network = facts.egress.empty() ? facts.network : network_access::off;
  if (plan.command != facts.command || plan.environment != facts.environment ||
      plan.workspace != facts.workspace || plan.directory != facts.directory ||
      plan.network != network || plan.command.empty() || plan.egress != facts.egress) {
    return "no fact is dropped";
  }
  switch (plan.backend) {
    case backend_name::none:
      return check_none(facts, plan);
    case backend_name::bubblewrap:
      return check_bubblewrap(facts, plan);
    case backend_name::seatbelt:
      return check_seatbelt(facts, plan);
  }
  return "a backend of the closed set";
}

}  // namespace pinfold_fuzz
