// One poll loop. What ends a run, in order of strength: the command's own end; SIGTERM through
// stage two; SIGKILL through stage two; SIGKILL to PID 1 inside and to bwrap from here.
#include "launch/supervisor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "launch/enforced.hpp"

namespace pinfold {
namespace {

using namespace std::chrono_literals;

constexpr auto setup_limit = 30s;    ///< from the call to `ready`; a start takes about 10 ms
constexpr auto report_limit = 5s;    ///< from SIGKILL to stage two's last report
constexpr auto abandon_limit = 10s;  ///< from our own SIGKILL to the end of PID 1
constexpr auto pipe_limit = 1s;      ///< from the end of everything to the end of the pipes

bool is_ready(const pollfd& one) {
  return one.revents != 0;
}

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

/// "stage two, STEP: what went wrong: where".
std::string what_failed(const stage::message& report, stage::step where) {
  std::string text = "stage two, " + std::string{name_of(where)} + ": ";
  text += report.value == 0 ? "the proof does not hold" : std::strerror(report.value);
  const std::string_view place{report.place, ::strnlen(report.place, sizeof report.place)};
  if (!place.empty()) text.append(": ").append(place);
  return text;
}

std::optional<run_limit> limit_of(stage::limited which) {
  switch (which) {
    case stage::limited::nothing:
      return std::nullopt;
    case stage::limited::memory:
      return run_limit::memory;
    case stage::limited::processes:
      return run_limit::processes;
    case stage::limited::cpu_time:
      return run_limit::cpu_time;
    case stage::limited::file_size:
      return run_limit::file_size;
    case stage::limited::tmp_size:
      return run_limit::tmp_size;
  }
  return std::nullopt;
}

/// bwrap's own last words, which came through the command's stderr.
std::string last_line(const captured_output& output) {
  std::string_view text = output.text;
  while (text.ends_with('\n')) text.remove_suffix(1);
  text.remove_prefix(text.rfind('\n') + 1);
  return std::string{text};
}

/// The kernel's limit of tasks does not bind uid 0 of the host. There PID 1 inside, which counts them,
/// gets its turn ahead of a crowd that would keep it waiting; what it starts does not inherit that.
/// Where it may not be given (a container), the count stands as it is.
void keep_in_turn(pid_t init) {
  const sched_param first{.sched_priority = 1};
  if (::geteuid() == 0) (void)::sched_setscheduler(init, SCHED_RR | SCHED_RESET_ON_FORK, &first);
}

}  // namespace

supervisor::supervisor(const launch_plan& plan, const limits& bounds, const sinks& events,
                       const blob_place& blobs, started_stage started, clock::time_point asked)
    : plan_{plan},
      bounds_{bounds},
      events_{events},
      stage_{std::move(started)},
      asked_{asked},
      deadline_{asked + setup_limit},
      out_blob_{blobs, "stdout"},
      err_blob_{blobs, "stderr"},
      out_{bounds.output, out_blob_.is_wanted() ? &out_blob_ : nullptr},
      err_{bounds.output, err_blob_.is_wanted() ? &err_blob_ : nullptr} {
  record_.backend = plan.backend;
  record_.network = plan.network;
  record_.workspace = plan.workspace;
  record_.ended = ending::failed;
}

run_record supervisor::watch() {
  while (!is_done()) poll_once();
  finish();
  return std::move(record_);
}

bool supervisor::is_done() const {
  if (phase_ == phase::over) return true;
  return !is_child_alive_ && !is_channel_open_ && !is_out_open_ && !is_err_open_;
}

void supervisor::poll_once() {
  const auto when = [](bool wanted, int fd) { return pollfd{wanted ? fd : -1, POLLIN, 0}; };
  const bool may_cancel = phase_ == phase::starting || phase_ == phase::running;
  const bool is_watched = mounts_ && !record_.error;
  std::array<pollfd, 6> on{
      when(is_channel_open_, stage_.channel.get()), when(is_out_open_, stage_.out.get()),
      when(is_err_open_, stage_.err.get()), when(is_child_alive_, stage_.child.ended.get()),
      when(may_cancel, events_.cancel_descriptor),
      pollfd{is_watched ? mounts_->table() : -1, POLLPRI, 0}};
  if (::poll(on.data(), on.size(), poll_timeout()) < 0 && errno != EINTR) return kill_from_here();

  const auto pass_on = [this](stream which) {
    return [this, which](std::string_view piece) {
      if (events_.on_output && has_started_) events_.on_output(which, piece);
    };
  };
  if (is_watched && (is_ready(on[5]) || mounts_->has_moved())) check_mounts();
  if (is_ready(on[0])) read_channel();
  if (is_ready(on[1])) {
    is_out_open_ = out_.read_from(stage_.out.get(), pass_on(stream::out)) == drain::state::open;
  }
  if (is_ready(on[2])) {
    is_err_open_ = err_.read_from(stage_.err.get(), pass_on(stream::err)) == drain::state::open;
  }
  if (is_ready(on[3])) {
    is_child_alive_ = false;
    deadline_ = clock::now() + pipe_limit;
  }
  if (is_ready(on[4])) begin_ending(ending::cancelled);
  if (deadline_ && clock::now() >= *deadline_) on_deadline();
}

int supervisor::poll_timeout() const {
  std::optional<std::chrono::milliseconds> left;
  if (deadline_) left = std::chrono::ceil<std::chrono::milliseconds>(*deadline_ - clock::now());
  if (mounts_ && !record_.error) {
    left = std::min(left.value_or(mount_watch::interval), mount_watch::interval);
  }
  if (!left) return -1;
  return static_cast<int>(std::clamp<std::int64_t>(left->count(), 0, 3'600'000));
}

void supervisor::read_channel() {
  for (;;) {
    stage::message report{};
    const auto got = ::recv(stage_.channel.get(), &report, sizeof report, 0);
    if (got == static_cast<ssize_t>(sizeof report)) {
      take_report(report);
    } else if (got < 0 && errno == EINTR) {
      continue;
    } else {
      if (got >= 0 || errno != EAGAIN) is_channel_open_ = false;
      return;
    }
  }
}

void supervisor::take_report(const stage::message& report) {
  switch (report.kind) {
    case stage::report::ready:
      return on_ready(report);
    case stage::report::failed:
      return on_stage_failed(report);
    case stage::report::started:
      return on_started();
    case stage::report::not_started:
      return on_not_started(report.value);
    case stage::report::limited:
      return on_limited(report);
    case stage::report::ended:
      return on_ended(report);
  }
}

void supervisor::on_ready(const stage::message& report) {
  record_.enforced = enforced_by(plan_, bounds_.resources, report.extra);
  find_init();
  if (plan_.backend != backend_name::none && !init_) {
    refuse(runner_refusal(plan_, code::sandbox_unavailable, "bwrap did not name its child"));
    return hang_up();
  }
  if (plan_.backend != backend_name::none && !mounts_) {
    refuse(runner_refusal(plan_, code::sandbox_unavailable, "its mount table cannot be read"));
    return hang_up();
  }
  check_mounts();
  if (phase_ != phase::starting) return;
  has_gone_ = true;
  say(stage::go);
}

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

/// Output can be read before the report that the command runs: it is passed on now, so that what
/// was passed on is always the whole head.
void supervisor::on_started() {
  has_started_ = true;
  if (events_.on_output) {
    if (!out_.head().empty()) events_.on_output(stream::out, out_.head());
    if (!err_.head().empty()) events_.on_output(stream::err, err_.head());
  }
  command_started_ = clock::now();
  record_.setup = std::chrono::duration_cast<std::chrono::microseconds>(command_started_ - asked_);
  if (phase_ != phase::starting) return;
  phase_ = phase::running;
  deadline_.reset();
  if (bounds_.time) deadline_ = command_started_ + *bounds_.time;
}

/// Stage two is killing everything already, when the limit is what ends the run; from here it gets as
/// long as after our own word.
void supervisor::on_limited(const stage::message& report) {
  if (record_.limit) return;
  record_.limit = limit_of(static_cast<stage::limited>(report.value));
  const bool ends_it = report.extra != 0 && phase_ == phase::running;
  if (!ends_it || !record_.limit) return;
  record_.ended = ending::limited;
  phase_ = phase::killing;
  deadline_ = clock::now() + report_limit;
}

void supervisor::on_ended(const stage::message& report) {
  has_reported_end_ = true;
  record_.duration =
      std::chrono::duration_cast<std::chrono::microseconds>(clock::now() - command_started_);
  record_.killed = static_cast<unsigned>(report.extra);
  const int status = report.value;
  check_mounts();
  const bool was_stopped = record_.error || record_.ended == ending::timed_out ||
                           record_.ended == ending::cancelled || record_.ended == ending::limited;
  if (WIFEXITED(status)) {
    record_.exit_code = WEXITSTATUS(status);
    if (!was_stopped) record_.ended = ending::exited;
  } else {
    record_.signal = WTERMSIG(status);
    if (!was_stopped) record_.ended = ending::signaled;
  }
  deadline_ = clock::now() + report_limit;
}

void supervisor::on_stage_failed(const stage::message& report) {
  const auto where = static_cast<stage::step>(report.extra);
  if (has_started_) {  // the watch itself failed: everything inside dies with PID 1
    record_.error = runner_refusal(plan_, code::run_lost, what_failed(report, where));
    return;
  }
  const bool unwritable = where == stage::step::write_workspace;
  const auto why = unwritable ? code::workspace_not_writable : code::sandbox_unavailable;
  refuse(runner_refusal(plan_, why, what_failed(report, where)));
}

void supervisor::on_not_started(int error) {
  const bool missing = error == ENOENT || error == ENOTDIR;
  refuse(runner_refusal(plan_, missing ? code::command_not_found : code::command_not_executable,
                        std::strerror(error)));
}

void supervisor::refuse(refusal why) {
  if (record_.error) return;  // the first one is the cause
  record_.ended = ending::refused;
  record_.error = std::move(why);
}

void supervisor::on_deadline() {
  if (!is_child_alive_) {  // only a pipe is still held, by nobody that we know
    phase_ = phase::over;
    return;
  }
  switch (phase_) {
    case phase::starting:
      refuse(runner_refusal(plan_, code::sandbox_unavailable, "it did not come up in 30 seconds"));
      return hang_up();
    case phase::running:
      if (has_reported_end_) return kill_from_here();
      return begin_ending(ending::timed_out);
    case phase::terminating:
      return ask_to_kill();
    case phase::killing:
      return kill_from_here();
    case phase::abandoning:
    case phase::over:
      phase_ = phase::over;
      return;
  }
}

void supervisor::begin_ending(ending cause) {
  if (has_reported_end_) return;
  record_.ended = cause;
  if (cause == ending::timed_out) record_.limit = run_limit::time;
  if (phase_ == phase::starting) return hang_up();
  if (bounds_.grace.count() <= 0) return ask_to_kill();
  phase_ = phase::terminating;
  deadline_ = clock::now() + bounds_.grace;
  say(stage::terminate);
}

/// Before the command runs, stage two is left to come up, to find nobody there and to go. A bwrap
/// that is killed between its clone and the word to its child would leave that child waiting for
/// ever, and nobody would know its number.
void supervisor::hang_up() {
  stage_.channel.reset();
  is_channel_open_ = false;
  phase_ = phase::killing;
  deadline_ = clock::now() + report_limit;
}

void supervisor::ask_to_kill() {
  phase_ = phase::killing;
  deadline_ = clock::now() + report_limit;
  say(stage::kill);
}

void supervisor::kill_from_here() {
  phase_ = phase::abandoning;
  deadline_ = clock::now() + abandon_limit;
  kill_now(init_);
  kill_now(stage_.child.ended);
}

/// A full or broken channel needs no answer here: the next deadline kills without it.
void supervisor::say(char word) {
  ::send(stage_.channel.get(), &word, 1, MSG_NOSIGNAL);
}

void supervisor::finish() {
  if (has_gone_) check_mounts();  // for the last time: what happened unseen counts too
  if (is_child_alive_) kill_from_here();
  if (init_) {
    kill_now(init_);
    pollfd on{init_.get(), POLLIN, 0};
    ::poll(&on, 1, static_cast<int>(std::chrono::milliseconds{abandon_limit}.count()));
  }
  reap(stage_.child);
  record_.out = out_.take();
  record_.err = err_.take();
  record_.out_blob = out_blob_.finish();
  record_.err_blob = err_blob_.finish();
  if (!has_started_) {
    record_.setup = std::chrono::duration_cast<std::chrono::microseconds>(clock::now() - asked_);
  }
  if (has_reported_end_ || record_.error || record_.ended == ending::cancelled) return;
  if (has_started_) {
    record_.duration =
        std::chrono::duration_cast<std::chrono::microseconds>(clock::now() - command_started_);
    if (record_.ended == ending::timed_out || record_.ended == ending::limited) return;
    record_.error = runner_refusal(plan_, code::run_lost, {});
  } else {
    refuse(runner_refusal(plan_, code::sandbox_unavailable,
                          plan_.program + " said: " + last_line(record_.err)));
    record_.err = {};
  }
}

}  // namespace pinfold
