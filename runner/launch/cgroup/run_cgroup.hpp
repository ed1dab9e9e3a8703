// The cgroup of one run: hard limits of memory and tasks, which bind uid 0 as well, and what the
// kernel counted. Stage two is put in while it waits for its word to go on, so whatever it starts is
// born inside.
#pragma once

#include <sys/types.h>

#include <array>
#include <expected>
#include <optional>
#include <string>
#include <utility>

#include <pinfold/disk/descriptor.hpp>
#include <pinfold/runner/record.hpp>

#include "launch/cgroup/held_cgroup.hpp"

namespace pinfold {

class run_cgroup {
 public:
  /// One with the limits that were asked for, as far as a place for it offers them; what was left
  /// behind there by runners that are gone is removed. Error: a clause that says why there is none.
  [[nodiscard]] static std::expected<run_cgroup, std::string> make(const cgroup_search& search,
                                                                   const resource_limits& limits);
  run_cgroup(run_cgroup&&) noexcept = default;
  run_cgroup& operator=(run_cgroup&&) = delete;
  /// Kills what is still in it, waits for its end (bounded), and removes it. What cannot be removed is
  /// left to the next run.
  ~run_cgroup();

  /// Puts a process in, with all of its threads, and sees that it is there.
  [[nodiscard]] std::expected<void, std::string> take_in(pid_t process) const;

  /// The limits that it holds.
  [[nodiscard]] controllers held() const noexcept { return held_; }
  [[nodiscard]] const std::string& path() const noexcept { return outer_.path(); }

  /// Each shows POLLPRI when something was counted since it was last read; -1 where there is none.
  [[nodiscard]] std::array<int, 2> changes() const noexcept {
    return {memory_events_.get(), pids_events_.get()};
  }

  /// The limit that was met: memory once the kernel killed for it (it kills all that is inside),
  /// processes once it refused to make one.
  [[nodiscard]] std::optional<run_limit> met() const;

  /// How many processes the kernel has killed for memory.
  [[nodiscard]] unsigned killed_for_memory() const;

  /// Kills everything in it at once (Linux 5.14; before, nothing is done).
  void kill() const noexcept;

 private:
  run_cgroup(const cgroup_files& files, held_cgroup outer, controllers held)
      : files_{&files}, outer_{std::move(outer)}, held_{held} {}

  [[nodiscard]] std::expected<void, std::string> set_up(const cgroup_search& search,
                                                        const resource_limits& limits);
  [[nodiscard]] std::expected<void, std::string> set(const char* file, const std::string& word) const;
  void wait_until_empty() const noexcept;

  const cgroup_files* files_;
  held_cgroup outer_;
  controllers held_;
  descriptor inner_;
  descriptor memory_events_;
  descriptor pids_events_;
};

}  // namespace pinfold
