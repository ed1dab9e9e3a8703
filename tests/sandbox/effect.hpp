// What a plan lets a command do to a path of the host, worked out from the plan alone: by the order
// of its mounts, or by the rules of its profile. The tests' own reading, not the backends'.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <pinfold/path.hpp>
#include <pinfold/sandbox/launch_plan.hpp>

#include "sandbox/profile.hpp"

namespace pinfold::effects {

/// In the order of what it lets through.
enum class effect : std::uint8_t { closed, reads, writes };

/// The mount that decides about a path: the last one at or above it. Null when none is.
constexpr const mount* deciding_mount(const launch_plan& plan, std::string_view path) {
  const mount* found = nullptr;
  for (const auto& one : plan.mounts) {
    const bool is_mount = one.kind != mount_kind::directory &&
                          one.kind != mount_kind::symbolic_link &&
                          one.kind != mount_kind::remount_ro;
    if (is_mount && contains(one.target, path)) found = &one;
  }
  return found;
}

/// True when the mount is made read-only after it was made.
constexpr bool is_closed_later(const launch_plan& plan, const mount& which) {
  return std::any_of(&which, plan.mounts.data() + plan.mounts.size(), [&which](const mount& one) {
    return one.kind == mount_kind::remount_ro && one.target == which.target;
  });
}

constexpr effect effect_of_mounts(const launch_plan& plan, std::string_view path) {
  const auto* decides = deciding_mount(plan, path);
  if (decides == nullptr || decides->source != decides->target) return effect::closed;
  if (decides->kind == mount_kind::ro_bind) return effect::reads;
  if (decides->kind != mount_kind::bind) return effect::closed;
  return is_closed_later(plan, *decides) ? effect::reads : effect::writes;
}

inline effect effect_of_profile(const launch_plan& plan, std::string_view path) {
  const auto rules = profile::rules_of(plan.options.at(1));
  if (profile::lets_through(rules, "file-write-data", path)) return effect::writes;
  return profile::lets_through(rules, "file-read-data", path) ? effect::reads : effect::closed;
}

/// What a command can do to the host's object of that name.
constexpr effect effect_on(const launch_plan& plan, std::string_view path) {
  switch (plan.backend) {
    case backend_name::none:
      return effect::writes;
    case backend_name::bubblewrap:
      return effect_of_mounts(plan, path);
    case backend_name::seatbelt:
      return effect_of_profile(plan, path);
  }
  return effect::writes;
}

inline bool profile_opens_network(const launch_plan& plan) {
  return profile::lets_through(profile::rules_of(plan.options.at(1)), "network-outbound", "x");
}

/// Whether the options of a plan leave a way out, whatever its field says.
constexpr bool has_a_way_out(const launch_plan& plan) {
  switch (plan.backend) {
    case backend_name::none:
      return true;
    case backend_name::bubblewrap:
      return std::ranges::find(plan.options, "--unshare-net") == plan.options.end();
    case backend_name::seatbelt:
      return profile_opens_network(plan);
  }
  return true;
}

}  // namespace pinfold::effects
