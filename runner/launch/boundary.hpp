// What stage two must find when it looks at the boundary from the inside, computed from the plan
// alone: which places are closed, what may lie in them, which namespaces are not the runner's. A
// plan whose options do not do what its mounts say is found out here.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <pinfold/sandbox/launch_plan.hpp>

#include "launch/stage_protocol.hpp"

namespace pinfold {

struct expected_place {
  std::string path;
  std::uint32_t kind{0};             ///< stage::place_closed and its kin
  std::vector<std::string> entries;  ///< with place_listed: the only names that may be there
};

/// The root, the workspace's parent, every hidden and scratch place, every covered carve-out and
/// secret; then what is open for writing. Empty for backend `none`, which hides nothing.
[[nodiscard]] std::vector<expected_place> expected_places(const launch_plan& plan);

/// Everything below which a file may be opened for writing, outer places alone. None for backend `none`.
[[nodiscard]] std::vector<std::string> open_places(const launch_plan& plan);

/// The inode numbers of this thread's namespaces in the order of stage::namespace_names; 0 for the
/// ones that the plan shares, stage::unknown_namespace for one that cannot be read. All 0 for
/// backend `none`.
[[nodiscard]] std::array<std::uint64_t, stage::namespace_count> foreign_namespaces(
    const launch_plan& plan);

}  // namespace pinfold
