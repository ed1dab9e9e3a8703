#include "open/rival.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pinfold_fuzz {

namespace {

void take(const rival_step& one) {
  switch (one.what) {
    case rival_step::kind::exchange:
      ::renameat2(one.from, one.name.c_str(), one.to, one.other.c_str(), RENAME_EXCHANGE);
      return;
    case rival_step::kind::move:
      ::renameat2(one.from, one.name.c_str(), one.to, one.other.c_str(), 0);
      return;
    case rival_step::kind::link:
      ::unlinkat(one.from, one.name.c_str(), 0);
      ::symlinkat(one.other.c_str(), one.from, one.name.c_str());
      return;
    case rival_step::kind::directory:
      ::unlinkat(one.from, one.name.c_str(), 0);
      ::mkdirat(one.from, one.name.c_str(), 0755);
      return;
    case rival_step::kind::file: {
      ::unlinkat(one.from, one.name.c_str(), AT_REMOVEDIR);
      const pinfold::descriptor made{::openat(
          one.from, one.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644)};
      return;
    }
  }
}

}  // namespace

std::vector<rival_step> read_steps(bytes& input, const ground& on) {
  std::vector<rival_step> steps(input.below(6));
  for (auto& one : steps) {
    one.what = static_cast<rival_step::kind>(input.below(5));
    one.from = input.one_of(on.directories());
    one.name = input.one_of(ground_names);
    one.to = input.one_of(on.directories());
    const bool is_link = one.what == rival_step::kind::link;
    one.other = is_link ? read_asked_path(input, on) : input.one_of(ground_names);
    if (one.other.empty()) one.other = "a";
  }
  return steps;
}

rival& rival::of_this_process() {
  static rival only;
  return only;
}

rival::rival() : thread_{[this] { run(); }} {}

rival::~rival() {
  state_ = ending;
  state_.notify_all();
  thread_.join();
}

void rival::start(const std::vector<rival_step>& steps) {
  if (steps.empty()) return;
  steps_ = &steps;
  state_ = working;
  state_.notify_all();
}

void rival::stop() {
  if (steps_ == nullptr) return;
  state_ = stopping;
  wait_for(idle);
  steps_ = nullptr;
}

void rival::wait_for(int wanted) const {
  for (int now = state_; now != wanted; now = state_) state_.wait(now);
}

void rival::run() {
  for (;;) {
    state_.wait(idle);
    if (state_ == ending) return;
    const auto& steps = *steps_;
    while (state_ == working) {
      for (const auto& one : steps) take(one);
    }
    if (state_ == ending) return;
    state_ = idle;
    state_.notify_all();
  }
}

}  // namespace pinfold_fuzz
