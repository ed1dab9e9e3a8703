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
                       const blob_place& blobs, started_stage started,
                       std::expected<run_cgroup, std::string> cgroup, clock::time_point asked)
    : plan_{plan},
      bounds_{bounds},
      events_{events},
      stage_{std::move(started)},
      cgroup_{std::move(cgroup)},
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
  const auto counts = is_counted() ? cgroup_->changes() : std::array{-1, -1};
  std::array<pollfd, 8> on{
      when(is_channel_open_, stage_.channel.get()), when(is_out_open_, stage_.out.get()),
      when(is_err_open_, stage_.err.get()), when(is_child_alive_, stage_.child.ended.get()),
      when(may_cancel, events_.cancel_descriptor),
      pollfd{is_watched ? mounts_->table() : -1, POLLPRI, 0}, pollfd{counts[0], POLLPRI, 0},
      pollfd{counts[1], POLLPRI, 0}};
  if (::poll(on.data(), on.size(), poll_timeout()) < 0 && errno != EINTR) return kill_from_here();

  const auto pass_on = [this](stream which) {
    return [this, which](std::string_view piece) {
      if (events_.on_output && has_started_) events_.on_output(which, piece);
    };
  };
  if (is_watched && (is_ready(on[5]) || mounts_->has_moved())) check_mounts();
  check_cgroup();
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
