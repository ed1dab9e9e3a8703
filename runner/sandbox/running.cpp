// One thread for each run. It starts the sandbox itself: whatever follows a parent's thread in the
// kernel follows this one, which ends last.
#include <pinfold/runner/running.hpp>

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <pinfold/disk/descriptor.hpp>

#include "launch/signals_blocked.hpp"

namespace pinfold {
namespace {

void raise(const descriptor& event) noexcept {
  const std::uint64_t one = 1;
  const auto wrote = ::write(event.get(), &one, sizeof one);
  (void)wrote;  // full only after 2^64-2 of them
}

refusal exhausted(const char* what, int error) {
  return refusal{.error = code::resource_exhausted,
                 .op = operation::execute,
                 .path = {},
                 .resolved = {},
                 .boundary = {},
                 .detail = std::string{what} + ": " + std::strerror(error)};
}

}  // namespace

struct running::state {
  descriptor cancelled;
  descriptor ended;
  std::mutex guard;
  std::condition_variable changed;
  bool is_over{false};
  run_record record;          ///< set before `is_over`, never changed after it
  std::exception_ptr thrown;  ///< the same
  std::thread thread;

  void work(const std::function<run_record(int)>& act) noexcept {
    std::optional<run_record> made;
    std::exception_ptr lost;
    try {
      made = act(cancelled.get());
    } catch (...) {
      lost = std::current_exception();
    }
    {
      const std::lock_guard held{guard};
      if (made) record = std::move(*made);
      thrown = lost;
      is_over = true;
    }
    changed.notify_all();
    raise(ended);
  }

  void end() noexcept {
    raise(cancelled);
    if (thread.joinable()) thread.join();
  }
};

running::running(std::unique_ptr<state> now) noexcept : now_{std::move(now)} {}
running::running(running&&) noexcept = default;

running& running::operator=(running&& other) noexcept {
  if (this == &other) return *this;
  if (now_) now_->end();
  now_ = std::move(other.now_);
  return *this;
}

running::~running() {
  if (now_) now_->end();
}

const run_record& running::wait() const {
  std::unique_lock held{now_->guard};
  now_->changed.wait(held, [this] { return now_->is_over; });
  if (now_->thrown) std::rethrow_exception(now_->thrown);
  return now_->record;
}

bool running::wait_for(std::chrono::milliseconds most) const {
  constexpr std::chrono::milliseconds longest = std::chrono::years{1};  // no sum overflows with it
  std::unique_lock held{now_->guard};
  return now_->changed.wait_for(held, std::min(most, longest), [this] { return now_->is_over; });
}

void running::cancel() const noexcept {
  raise(now_->cancelled);
}

int running::ended_descriptor() const noexcept {
  return now_->ended.get();
}

std::expected<running, refusal> running::on_a_thread(std::function<run_record(int)> work) {
  auto now = std::make_unique<state>();
  now->cancelled.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  now->ended.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!now->cancelled || !now->ended) return std::unexpected{exhausted("eventfd", errno)};
  const signals_blocked quiet;
  try {
    now->thread = std::thread{[own = now.get(), act = std::move(work)] { own->work(act); }};
  } catch (const std::system_error& none) {
    return std::unexpected{exhausted("a thread", none.code().value())};
  }
  return running{std::move(now)};
}

}  // namespace pinfold
