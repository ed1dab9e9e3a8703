// Making room: no cgroup but the root of all may hold processes and give its children controllers.
// Where this process alone sits in a cgroup that was given to it (systemd-run --scope -p
// Delegate=yes), it moves itself into a leaf for as long as it lives. A change of the whole process:
// for a program of our own, never for one that embeds us.
#pragma once

#include <optional>
#include <utility>

#include "launch/cgroup/held_cgroup.hpp"

namespace pinfold {

class cgroup_leaf {
 public:
  /// Nothing where there is no need, or no way: then the process is where it was, and the search of
  /// a run says what is in the way. No other process is ever moved.
  [[nodiscard]] static std::optional<cgroup_leaf> enter(const cgroup_search& search,
                                                        controllers wanted);
  cgroup_leaf(cgroup_leaf&&) noexcept = default;
  cgroup_leaf& operator=(cgroup_leaf&&) = delete;
  /// Back to where it sat, with nothing left. Where children still have controllers it stays.
  ~cgroup_leaf();

 private:
  cgroup_leaf(const cgroup_files& files, cgroup_place seat, held_cgroup leaf)
      : files_{&files}, seat_{std::move(seat)}, leaf_{std::move(leaf)} {}

  [[nodiscard]] bool sit_in(int cgroup) const;

  const cgroup_files* files_;
  cgroup_place seat_;
  held_cgroup leaf_;
};

}  // namespace pinfold
