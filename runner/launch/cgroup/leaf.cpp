#include "launch/cgroup/leaf.hpp"

#include <unistd.h>

#include <string>
#include <utility>

namespace pinfold {

std::optional<cgroup_leaf> cgroup_leaf::enter(const cgroup_search& search, controllers wanted) {
  if (!wanted.is_any()) return std::nullopt;
  const auto& files = *search.files;
  auto seat = find_cgroup_place(search, wanted);
  if (!seat || !seat->is_our_seat) return std::nullopt;
  remove_left_behind(*seat, files);
  auto leaf = held_cgroup::make_in(*seat, files);
  if (!leaf) return std::nullopt;
  cgroup_leaf entered{files, std::move(*seat), std::move(*leaf)};
  if (!entered.sit_in(entered.leaf_.get())) return std::nullopt;
  if (!enable_controllers(entered.seat_, files)) return std::nullopt;  // and back again
  return entered;
}

bool cgroup_leaf::sit_in(int cgroup) const {
  return files_->write(cgroup, "cgroup.procs", std::to_string(::getpid())) == 0;
}

/// Only what was given here is taken back.
cgroup_leaf::~cgroup_leaf() {
  if (!seat_.held) return;  // moved away
  const int seat = seat_.held.get();
  const auto take_back = [&](bool was_given, const char* word) {
    if (was_given) (void)files_->write(seat, "cgroup.subtree_control", word);
  };
  take_back(seat_.offered.memory && !seat_.enabled.memory, "-memory");
  take_back(seat_.offered.pids && !seat_.enabled.pids, "-pids");
  (void)sit_in(seat);
}

}  // namespace pinfold
