// What the runner holds of the sandbox: PID 1 inside, and the mount table that it sees.
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "launch/supervisor.hpp"

namespace pinfold {
namespace {

/// The number after "child-pid" in what bwrap writes to --info-fd, or -1.
pid_t child_pid_in(std::string_view json) {
  constexpr std::string_view key = "\"child-pid\":";
  const auto at = json.find(key);
  if (at == std::string_view::npos) return -1;
  json.remove_prefix(std::min(json.size(), json.find_first_not_of(' ', at + key.size())));
  pid_t pid = -1;
  std::from_chars(json.data(), json.data() + json.size(), pid);
  return pid;
}

/// The kernel's limit of tasks does not bind uid 0 of the host. There PID 1 inside, which counts them,
/// gets its turn ahead of a crowd that would keep it waiting; what it starts does not inherit that.
/// Where it may not be given (a container), the count stands as it is.
void keep_in_turn(pid_t init) {
  const sched_param first{.sched_priority = 1};
  if (::geteuid() == 0) (void)::sched_setscheduler(init, SCHED_RR | SCHED_RESET_ON_FORK, &first);
}

}  // namespace

/// bwrap wrote its mailbox before it let its child go on. PID 1 inside is alive and waits for its
/// go, so its number cannot have passed to another process.
void supervisor::find_init() {
  if (!stage_.info) return;
  std::array<char, 256> text{};
  const auto got = ::pread(stage_.info.get(), text.data(), text.size(), 0);
  if (got <= 0) return;
  const pid_t pid = child_pid_in({text.data(), static_cast<std::size_t>(got)});
  if (pid <= 0) return;
  init_number_ = pid;
  init_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

/// The command does not exist yet, and stage two waits for its word: whatever is started from now on
/// is born in the cgroup. bwrap, which starts nothing more, stays where it is. What cannot be done
/// leaves the limits to stage two's own watch, and the record says so.
void supervisor::take_into_cgroup() {
  if (init_number_ <= 0) return;
  if (cgroup_) {
    if (auto taken = cgroup_->take_in(init_number_); !taken) {
      auto why = std::move(taken.error());
      cgroup_ = std::unexpected{std::move(why)};
    }
  }
  if (cgroup_ && cgroup_->held().memory) say(stage::memory_is_held);
  if (cgroup_ && cgroup_->held().pids) say(stage::tasks_are_held);
  keep_in_turn(init_number_);  // after the move: the kernel may refuse one in real time
}

/// Whether it matters what the kernel counts: from the go to the first thing that ends the run.
bool supervisor::is_counted() const {
  return cgroup_ && has_gone_ && !record_.error && !record_.limit;
}

/// What the kernel counted ends the run like what stage two counts. For memory it has killed all that
/// was inside, stage two with it.
void supervisor::check_cgroup() {
  if (!is_counted()) return;
  const auto met = cgroup_->met();
  if (!met) return;
  record_.limit = met;
  const bool may_end = phase_ == phase::starting || phase_ == phase::running;
  if (!may_end) return;
  record_.ended = ending::limited;
  ask_to_kill();
}

/// A mount that is gone takes its part of the boundary along: everything inside is killed from here,
/// at once, and what ran until then is for a person to judge.
void supervisor::check_mounts() {
  if (!mounts_ || record_.error) return;
  const auto lost = mounts_->lost();
  if (!lost) return;
  auto why = runner_refusal(plan_, code::boundary_lost, {});
  why.path = *lost;
  if (!has_gone_) {
    refuse(std::move(why));
    return hang_up();
  }
  record_.ended = ending::failed;
  if (has_started_) {
    record_.duration =
        std::chrono::duration_cast<std::chrono::microseconds>(clock::now() - command_started_);
  }
  record_.error = std::move(why);
  kill_from_here();
}

}  // namespace pinfold
