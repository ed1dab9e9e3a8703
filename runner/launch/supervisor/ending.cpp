// How a run is ended, and what is done when it is over.
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "launch/supervisor.hpp"

namespace pinfold {
namespace {

/// bwrap's own last words, which came through the command's stderr.
std::string last_line(const captured_output& output) {
  std::string_view text = output.text;
  while (text.ends_with('\n')) text.remove_suffix(1);
  text.remove_prefix(text.rfind('\n') + 1);
  return std::string{text};
}

}  // namespace

void supervisor::refuse(refusal why) {
  if (record_.error) return;  // the first one is the cause
  record_.ended = ending::refused;
  record_.error = std::move(why);
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
  stage_.attaches.reset();
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
  if (cgroup_) cgroup_->kill();
  kill_now(init_);
  kill_now(stage_.child.ended);
}

/// A full or broken channel needs no answer here: the next deadline kills without it.
void supervisor::say(char word) {
  ::send(stage_.channel.get(), &word, 1, MSG_NOSIGNAL);
}

/// The kernel lets PID 1 be waited for only when everything else in its namespace is gone.
void supervisor::say_that_all_are_gone() {
  if (are_all_gone_ || !has_gone_) return;
  are_all_gone_ = true;
  if (extras_.when_gone) extras_.when_gone(record_);
}

supervisor::~supervisor() {
  if (is_finished_) return;
  stage_.channel.reset();  // stage two kills all and goes, before its go too
  kill_now(init_);
  pollfd on{stage_.child.ended.get(), POLLIN, 0};
  ::poll(&on, 1, static_cast<int>(std::chrono::milliseconds{abandon_limit}.count()));
  kill_now(stage_.child.ended);
  reap(stage_.child);
}

void supervisor::finish() {
  if (has_gone_) check_mounts();  // for the last time: what happened unseen counts too
  check_cgroup();
  if (is_child_alive_) kill_from_here();
  if (init_) {
    kill_now(init_);
    pollfd on{init_.get(), POLLIN, 0};
    ::poll(&on, 1, static_cast<int>(std::chrono::milliseconds{abandon_limit}.count()));
  }
  reap(stage_.child);
  say_that_all_are_gone();
  is_finished_ = true;
  next_beat_.reset();
  record_.out = out_.take();
  record_.err = err_.take();
  record_.out_blob = out_blob_.finish();
  record_.err_blob = err_blob_.finish();
  if (!has_started_) {
    record_.setup = std::chrono::duration_cast<std::chrono::microseconds>(clock::now() - asked_);
  }
  if (has_reported_end_ || record_.error || record_.ended == ending::cancelled) return;
  if (record_.limit == run_limit::memory && cgroup_) {
    // Stage two cannot count what was killed together with it and the command.
    record_.killed = std::max(cgroup_->killed_for_memory(), 2U) - 2U;
  }
  if (has_started_) {
    record_.duration =
        std::chrono::duration_cast<std::chrono::microseconds>(clock::now() - command_started_);
  }
  if (record_.ended == ending::timed_out || record_.ended == ending::limited) return;
  if (has_started_) {
    record_.error = runner_refusal(plan_, code::run_lost, {});
  } else {
    refuse(runner_refusal(plan_, code::sandbox_unavailable,
                          plan_.program + " said: " + last_line(record_.err)));
    record_.err = {};
  }
}

}  // namespace pinfold
