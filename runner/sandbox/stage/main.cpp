// Stage two: the program between the boundary and the command. It waits for the runner's word,
// starts the command in a process group of its own, reaps, forwards a request to end, kills and
// counts what is left, and reports exactly what happened. It must never hand the command a
// descriptor of its own, and never go on when the runner is gone.
#include "stage.hpp"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach.hpp"

namespace pinfold::stage {
namespace {

/// The state of one run, from the first byte to the last.
struct run_state {
  specification spec;
  pid_t command{-1};
  int signals{-1};
  bool is_killing{false};
  bool is_over_a_limit{false};
  unsigned killed{0};  ///< processes that were left and did not end by themselves
};

void kill_everything(const run_state& run) {
  if (run.spec.is_confined()) {
    ::kill(-1, SIGKILL);  // from PID 1: everything in this PID namespace but itself
  } else {
    kill_descendants();
  }
}

/// Reaps until there is no child left; counts those that were killed here. A process that was
/// already dead is reaped first and not counted.
void kill_what_is_left(run_state& run) {
  pid_t gone = 0;
  while ((gone = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
  }
  while (gone >= 0 || errno == EINTR) {
    kill_everything(run);
    gone = ::waitpid(-1, nullptr, 0);
    if (gone > 0) ++run.killed;
  }
}

[[noreturn]] void leave(run_state& run) {
  kill_what_is_left(run);
  ::_exit(1);
}

void obey(run_state& run, char word) {
  switch (word) {
    case terminate:
      ::kill(-run.command, SIGTERM);
      if (run.spec.has_terminal()) ::kill(-run.command, SIGHUP);  // a shell at a terminal ignores SIGTERM
      ::kill(-run.command, SIGCONT);  // a stopped process sees the SIGTERM only then
      break;
    case kill:
      run.is_killing = true;
      ::kill(-run.command, SIGKILL);
      kill_everything(run);
      break;
    case measure:
      if (run.spec.is_confined()) report_usage();
      break;
    case prove:
    case go:
    case memory_is_held:
    case tasks_are_held:
      break;
    default:
      leave(run);
  }
}

/// Reaps whatever has ended. True with the wait status once the command itself has.
bool reap(run_state& run, int& status) {
  bool command_ended = false;
  for (;;) {
    int one = 0;
    const pid_t gone = ::waitpid(-1, &one, WNOHANG);
    if (gone <= 0) return command_ended;
    if (gone != run.command) {
      if (run.is_killing) ++run.killed;
      continue;
    }
    status = one;
    command_ended = true;
  }
}

/// The report goes first: what comes after may take its time.
void end_at_limit(run_state& run, limited which) {
  run.is_over_a_limit = true;
  run.is_killing = true;
  send({report::limited, static_cast<std::int32_t>(which), 1, {}});
  kill_everything(run);
}

int watch(run_state& run) {
  limit_watch limits{run.spec};
  const int tick = limits.is_needed() ? limit_watch::tick_milliseconds : -1;
  pollfd on[2] = {{channel_fd, POLLIN, 0}, {run.signals, POLLIN, 0}};
  for (;;) {
    if (::poll(on, 2, tick) < 0 && errno != EINTR) fail(step::wait_for_child, errno);
    if (on[1].revents != 0) {
      signalfd_siginfo drained;
      while (::read(run.signals, &drained, sizeof drained) > 0) {
      }
    }
    int status = 0;
    if (reap(run, status)) return status;
    if (tick > 0 && !run.is_over_a_limit) {
      if (const auto which = limits.passed(); which != limited::nothing) end_at_limit(run, which);
    }
    if (on[0].revents != 0) obey(run, next_word());
  }
}

int block_child_signal() {
  sigset_t mask;
  ::sigemptyset(&mask);
  ::sigaddset(&mask, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &mask, nullptr);
  return ::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
}

/// A limit that the command met by itself: the kernel's signals for it, or a scratch place that is
/// full when the command gives up.
void report_limits_met(const run_state& run, int status) {
  const auto& wanted = run.spec.counts.limits;
  const auto tell = [](limited which, std::uint64_t ended_it) {
    send({report::limited, static_cast<std::int32_t>(which), ended_it, {}});
  };
  if (run.is_over_a_limit) return;
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (wanted.file_bytes != 0 && signal == SIGXFSZ) return tell(limited::file_size, 1);
  if (wanted.cpu_milliseconds != 0 && signal == SIGXCPU) return tell(limited::cpu_time, 1);
  if (status != 0 && is_a_scratch_place_full(run.spec)) tell(limited::tmp_size, 0);
}

int run_once() {
  run_state run;
  std::uint64_t obtained = 0;
  run.spec = prepare(obtained);
  run.signals = block_child_signal();
  if (run.signals < 0) fail(step::wait_for_child, errno);
  hand_out_listeners(run.spec);
  if (run.spec.has_terminal()) open_terminal(run.spec);
  send_ready(run.spec, obtained);
  if (!wait_for(go, run.spec)) return 1;
  if (const int wrong = start(run.spec, run.command); wrong != 0) {
    send({report::not_started, wrong, 0, {}});
    return 1;
  }
  send({report::started, run.command, 0, {}});
  const int status = watch(run);
  report_limits_met(run, status);
  kill_what_is_left(run);
  send({report::ended, status, run.killed, {}});
  return 0;
}

}  // namespace
}  // namespace pinfold::stage

int main(int, char** arguments) {
  if (pinfold::attach::is_meant(arguments[0])) return pinfold::attach::attach_all();
  return pinfold::stage::run_once();
}
