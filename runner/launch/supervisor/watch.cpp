// One poll loop. What ends a run, in order of strength: the command's own end; SIGTERM through
// stage two; SIGKILL through stage two; SIGKILL to PID 1 inside and to bwrap from here.
#include "launch/supervisor.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace pinfold {
namespace {

bool is_ready(const pollfd& one) {
  return one.revents != 0;
}

}  // namespace

supervisor::supervisor(const launch_plan& plan, const limits& bounds, const sinks& events,
                       const launch_extras& extras, started_stage started,
                       std::expected<run_cgroup, std::string> cgroup, clock::time_point asked)
    : plan_{plan},
      bounds_{bounds},
      events_{events},
      extras_{extras},
      cancelled_{extras.cancelled},
      stage_{std::move(started)},
      cgroup_{std::move(cgroup)},
      asked_{asked},
      deadline_{asked + setup_limit},
      out_blob_{extras.blobs, "stdout"},
      err_blob_{extras.blobs, "stderr"},
      out_{bounds.output, out_blob_.is_wanted() ? &out_blob_ : nullptr},
      err_{bounds.output, err_blob_.is_wanted() ? &err_blob_ : nullptr} {
  record_.backend = plan.backend;
  record_.network = plan.network;
  if (!plan.egress.empty()) record_.egress.emplace().list = plan.egress;
  record_.workspace = plan.workspace;
  record_.ended = ending::failed;
  if (stage_.in) {
    input_.emplace(events.input_descriptor, std::move(stage_.in), input_relay::target::pipe);
  }
}

run_record supervisor::watch() {
  while (!is_done()) poll_once();
  finish();
  if (thrown_) std::rethrow_exception(thrown_);
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
  const bool awaits_init = init_ && has_gone_ && !are_all_gone_;
  const auto counts = is_counted() ? cgroup_->changes() : std::array{-1, -1};
  const int resized = has_terminal_ ? events_.terminal->resized : -1;
  const bool has_news = has_started_ && !thrown_;
  std::array<pollfd, 14> on{
      when(is_channel_open_, stage_.channel.get()),
      when(is_out_open_, stage_.out.get()),
      when(is_err_open_, stage_.err.get()),
      when(is_child_alive_, stage_.child.ended.get()),
      when(may_cancel, events_.cancel_descriptor),
      when(may_cancel, cancelled_),
      pollfd{is_watched ? mounts_->table() : -1, POLLPRI, 0},
      when(is_child_alive_, resized),
      has_started_ && is_child_alive_ && input_ ? input_->wanted() : pollfd{-1, 0, 0},
      when(awaits_init, init_.get()),
      pollfd{counts[0], POLLPRI, 0},
      pollfd{counts[1], POLLPRI, 0},
      when(stage_.attaches.has_value(), stage_.attaches ? stage_.attaches->channel() : -1),
      when(has_news, extras_.news)};
  if (::poll(on.data(), on.size(), poll_timeout()) < 0 && errno != EINTR) return kill_from_here();

  const bool has_moved = is_watched && mounts_->is_due() && mounts_->has_moved();
  if (has_moved || (is_watched && is_ready(on[6]))) check_mounts();
  check_cgroup();
  const bool is_cancelled = is_ready(on[4]) || is_ready(on[5]);
  // First, or a command would be started that nobody wants any more.
  if (is_cancelled && phase_ == phase::starting) begin_ending(ending::cancelled);
  if (stage_.attaches && is_ready(on[12])) read_attacher();
  if (is_ready(on[0])) read_channel();
  if (is_ready(on[1])) read_stream(stream::out);
  if (is_ready(on[2])) read_stream(stream::err);
  if (is_ready(on[3])) {
    is_child_alive_ = false;
    deadline_ = clock::now() + pipe_limit;
  }
  if (is_ready(on[9])) say_that_all_are_gone();
  if (is_cancelled && phase_ == phase::running) begin_ending(ending::cancelled);
  if (is_ready(on[7])) on_resized();
  if (is_ready(on[8])) carry_input();
  if (is_ready(on[13])) tell([this] { extras_.when_news(); });
  if (next_beat_ && clock::now() >= *next_beat_) beat();
  if (deadline_ && clock::now() >= *deadline_) on_deadline();
}

int supervisor::poll_timeout() const {
  std::optional<std::chrono::milliseconds> left;
  if (deadline_) left = std::chrono::ceil<std::chrono::milliseconds>(*deadline_ - clock::now());
  if (mounts_ && !record_.error) {
    left = std::min(left.value_or(mount_watch::interval), mount_watch::interval);
  }
  if (next_beat_) {
    const auto beat = std::chrono::ceil<std::chrono::milliseconds>(*next_beat_ - clock::now());
    left = std::min(left.value_or(beat), beat);
  }
  if (!left) return -1;
  return static_cast<int>(std::clamp<std::int64_t>(left->count(), 0, 3'600'000));
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

}  // namespace pinfold
