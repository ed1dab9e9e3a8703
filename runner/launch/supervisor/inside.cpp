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
  init_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  keep_in_turn(pid);
  mounts_ = mount_watch::of(pid, stage_.mounts, plan_.workspace);
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
