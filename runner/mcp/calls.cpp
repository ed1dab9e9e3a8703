#include "mcp/calls.hpp"

#include <utility>

namespace pinfold::mcp {

bool answer_room::take(std::size_t bytes) noexcept {
  auto left = left_.load();
  do {
    if (left < bytes) return false;
  } while (!left_.compare_exchange_weak(left, left - bytes));
  return true;
}

/// An error repeats the request's id, which came in the batch; its sentence is short.
std::shared_ptr<batch_answer> batch_answer::begin(outlet& to, answer_room& room,
                                                  std::size_t requests, std::size_t bytes) {
  constexpr std::size_t sentence = 512;
  const auto needed = bytes + requests * sentence;
  if (!room.take(needed)) return nullptr;
  return std::shared_ptr<batch_answer>{new batch_answer{to, room, requests, needed}};
}

bool batch_answer::add_result(std::string_view line) {
  std::unique_lock locked{lock_};
  if (!room_.take(line.size())) return false;
  taken_ += line.size();
  add(line, std::move(locked));
  return true;
}

void batch_answer::add_error(std::string_view line) {
  add(line, std::unique_lock{lock_});
}

void batch_answer::add_nothing() {
  add({}, std::unique_lock{lock_});
}

void batch_answer::add(std::string_view line, std::unique_lock<std::mutex> locked) {
  if (!line.empty()) (lines_ += lines_.empty() ? '[' : ',') += line;
  if (--missing_ > 0 || lines_.empty()) return;
  const auto all = std::exchange(lines_, {}) + ']';
  locked.unlock();
  to_.send(all);
}

void answer_place::send_result(const request_id& id, std::string_view result,
                               outlet::when written) const {
  const auto line = result_line(id, result);
  if (!batch_) return to_->send(line, written);
  if (batch_->add_result(line)) return;
  batch_->add_error(error_line(id, error_number::internal_error,
                               "ResourceExhausted: it is done, and its answer is not kept, since too much "
                               "waits for the rest of a batch: ask for it outside of one"));
}

void answer_place::send_error(std::string_view line, outlet::when written) const {
  if (batch_) {
    batch_->add_error(line);
  } else {
    to_->send(line, written);
  }
}

void answer_place::drop() const {
  if (batch_) batch_->add_nothing();
}

bool call_table::begin(const request_id& id, std::stop_source stop) {
  const std::lock_guard locked{lock_};
  return calls_.emplace(id, std::move(stop)).second;
}

bool call_table::has(const request_id& id) const {
  const std::lock_guard locked{lock_};
  return !calls_.empty() && calls_.contains(id);
}

void call_table::end(const request_id& id) {
  const std::lock_guard locked{lock_};
  calls_.erase(id);
}

/// The callbacks of a stop run here, so without the lock: one of them may end the call.
void call_table::cancel(const request_id& id) {
  std::stop_source stop{std::nostopstate};
  {
    const std::lock_guard locked{lock_};
    const auto at = calls_.find(id);
    if (at == calls_.end()) return;
    stop = at->second;
  }
  stop.request_stop();
}

void call_table::cancel_all() {
  std::vector<std::stop_source> all;
  {
    const std::lock_guard locked{lock_};
    for (const auto& [id, stop] : calls_) all.push_back(stop);
  }
  for (auto& stop : all) stop.request_stop();
}

}  // namespace pinfold::mcp
