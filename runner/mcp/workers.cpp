#include "mcp/workers.hpp"

#include <system_error>
#include <utility>

#include "launch/signals_blocked.hpp"

namespace pinfold::mcp {

bool workers::offer(std::function<void()> work, std::size_t bytes) {
  {
    const std::lock_guard locked{lock_};
    if (is_closed_ || waiting_.size() >= bounds_.waiting) return false;
    if (!waiting_.empty() && bytes_ + bytes > bounds_.bytes) return false;
    if (!has_thread()) return false;
    waiting_.push_back({std::move(work), bytes});
    bytes_ += bytes;
  }
  changed_.notify_one();
  return true;
}

/// One that is free, a new one, or at least one that will be free.
bool workers::has_thread() {
  if (idle_ > waiting_.size() || threads_.size() >= bounds_.threads + aside_) return true;
  const signals_blocked quiet;
  try {
    threads_.emplace_back([this] { run(); });
  } catch (const std::system_error&) {
    return !threads_.empty();
  }
  return true;
}

void workers::run() noexcept {
  std::unique_lock locked{lock_};
  for (;;) {
    ++idle_;
    changed_.wait(locked, [this] {
      return is_closed_ || (!waiting_.empty() && running_ < bounds_.threads);
    });
    --idle_;
    if (is_closed_) return;
    ++running_;
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    bytes_ -= next.bytes;
    locked.unlock();
    next.work();
    next.work = nullptr;
    locked.lock();
    --running_;
  }
}

void workers::leave() {
  {
    const std::lock_guard locked{lock_};
    --running_;
    ++aside_;
    if (!is_closed_ && !waiting_.empty()) (void)has_thread();  // without one the work waits on
  }
  changed_.notify_one();
}

/// It goes on at once, beside those that were begun meanwhile: somebody has waited for it long enough.
void workers::come_back() noexcept {
  const std::lock_guard locked{lock_};
  ++running_;
  --aside_;
}

void workers::close() noexcept {
  {
    const std::lock_guard locked{lock_};
    is_closed_ = true;
    waiting_.clear();
    bytes_ = 0;
  }
  changed_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace pinfold::mcp
