// What stage two says, and what follows from it.
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "launch/enforced.hpp"
#include "launch/supervisor.hpp"

namespace pinfold {
namespace {

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

/// One message, and the descriptor that it may carry.
ssize_t receive(int channel, stage::message& report, descriptor& passed) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};
  iovec part{&report, sizeof report};
  msghdr whole{};
  whole.msg_iov = &part;
  whole.msg_iovlen = 1;
  whole.msg_control = room.data();
  whole.msg_controllen = room.size();
  const auto got = ::recvmsg(channel, &whole, MSG_CMSG_CLOEXEC);
  const cmsghdr* with = got > 0 ? CMSG_FIRSTHDR(&whole) : nullptr;
  if (with != nullptr && with->cmsg_level == SOL_SOCKET && with->cmsg_type == SCM_RIGHTS &&
      with->cmsg_len == CMSG_LEN(sizeof(int))) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(with), sizeof fd);
    passed.reset(fd);
  }
  return got;
}

held_by_cgroup hold_of(const std::expected<run_cgroup, std::string>& cgroup) {
  if (!cgroup) return {{}, {}, cgroup.error()};
  return {cgroup->path(), cgroup->held(), "its place has no such controller"};
}

}  // namespace

void supervisor::read_channel() {
  for (;;) {
    stage::message report{};
    descriptor passed;
    const auto got = receive(stage_.channel.get(), report, passed);
    if (got == static_cast<ssize_t>(sizeof report)) {
      take_passed(report, std::move(passed));
      take_report(report);
    } else if (got < 0 && (errno == EINTR || errno == ECONNRESET)) {
      continue;  // gone with a word of ours unread: what it said before comes after that error
    } else {
      if (got >= 0 || errno != EAGAIN) is_channel_open_ = false;
      return refuse_the_nameless();
    }
  }
}

/// What a report carries belongs to its kind; anything else is closed.
void supervisor::take_passed(const stage::message& report, descriptor passed) {
  if (!passed) return;
  if (report.kind == stage::report::listening) return take_listener(std::move(passed));
  const bool is_terminal = report.kind == stage::report::ready && events_.terminal;
  if (is_terminal && !has_terminal_) take_terminal(std::move(passed));
}

void supervisor::take_report(const stage::message& report) {
  switch (report.kind) {
    case stage::report::present:
      return on_present();
    case stage::report::locked:
      return on_locked();
    case stage::report::attached:  // no word of stage two
      return;
    case stage::report::ready:
      return on_ready(report);
    case stage::report::failed:
      return on_stage_failed(report);
    case stage::report::listening:
      return;  // it was what it carried
    case stage::report::started:
      return on_started();
    case stage::report::not_started:
      return on_not_started(report.value);
    case stage::report::limited:
      return on_limited(report);
    case stage::report::measured:
      is_measuring_ = false;
      if (next_beat_) tell_progress(&report);
      return;
    case stage::report::ended:
      return on_ended(report);
  }
}

/// Stage two waits, so the sandbox is held by its number while the other mounts are
/// attached.
void supervisor::on_present() {
  if (phase_ != phase::starting) return;
  find_init();
  is_nameless_ = !init_;
  if (is_nameless_) return;
  take_into_cgroup();
  if (stage_.attaches && stage_.attaches->attach_to(init_number_)) return;
  refuse(runner_refusal(plan_, code::sandbox_unavailable, "what attaches its mounts is gone"));
  hang_up();
}

/// Once everything is read that stage two has said: where it has gone with a fault of its own to tell, its
/// number stands for nobody.
void supervisor::refuse_the_nameless() {
  if (!is_nameless_ || phase_ != phase::starting) return;
  refuse(runner_refusal(plan_, code::sandbox_unavailable, "bwrap did not name its child"));
  hang_up();
}

void supervisor::read_attacher() {
  const auto said = stage_.attaches->answer();
  if (said && said->kind == stage::report::attached && phase_ == phase::starting) {
    say(stage::prove);
    return stage_.attaches.reset();  // its end is waited for while stage two goes on
  }
  stage_.attaches.reset();
  read_channel();  // a stage two that has gone has said why
  if (phase_ != phase::starting) return;
  if (said) {
    on_stage_failed(*said);
  } else {
    refuse(runner_refusal(plan_, code::sandbox_unavailable, "what attaches its mounts is gone"));
  }
  hang_up();
}

/// While stage two proves the boundary from the inside, it is looked at from out here. What is amiss is
/// said when stage two has no fault of its own to tell, and may be gone already.
void supervisor::on_locked() {
  mounts_ = mount_watch::of(init_number_, stage_.mounts, plan_.workspace);
  is_whole_ = mounts_ && !mounts_->lost();
}

void supervisor::on_ready(const stage::message& report) {
  if (phase_ != phase::starting) return;
  const bool is_confined = plan_.backend != backend_name::none;
  if (is_confined && !mounts_) {
    refuse(runner_refusal(plan_, code::sandbox_unavailable, "its mount table cannot be read"));
    return hang_up();
  }
  if (is_confined && !is_whole_) check_mounts();
  if (phase_ != phase::starting) return;
  if (events_.terminal && !has_terminal_) {
    refuse(runner_refusal(plan_, code::sandbox_unavailable, "it did not hand out its terminal"));
    return hang_up();
  }
  if (auto why = open_listeners()) {
    refuse(std::move(*why));
    return hang_up();
  }
  record_.enforced = enforced_by(plan_, bounds_.resources, {report.extra, hold_of(cgroup_)});
  has_gone_ = true;
  say(stage::go);
}

/// Output can be read before the report that the command runs: it is passed on now, so that what
/// was passed on is always the whole head.
void supervisor::on_started() {
  has_started_ = true;
  command_started_ = clock::now();
  record_.setup = std::chrono::duration_cast<std::chrono::microseconds>(command_started_ - asked_);
  if (phase_ == phase::starting) {
    phase_ = phase::running;
    deadline_.reset();
    if (bounds_.time) deadline_ = command_started_ + *bounds_.time;
  }
  if (events_.on_progress) next_beat_ = command_started_ + events_.progress_interval;
  if (events_.on_started) tell([&] { events_.on_started(record_); });
  if (!events_.on_output) return;
  if (!out_.head().empty()) tell([&] { events_.on_output(stream::out, out_.head()); });
  if (!err_.head().empty()) tell([&] { events_.on_output(stream::err, err_.head()); });
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
  next_beat_.reset();
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

}  // namespace pinfold
