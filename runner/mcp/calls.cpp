#include "mcp/calls.hpp"

#include <utility>

namespace pinfold::mcp {

void batch_answer::add(std::optional<std::string> line) {
  std::string all;
  {
    const std::lock_guard locked{lock_};
    if (line) lines_ += (lines_.empty() ? "[" : ",") + *line;
    if (--missing_ > 0 || lines_.empty()) return;
    all = std::move(lines_) + "]";
  }
  to_.send(all);
}

void answer_place::send(std::string line, outlet::when written) const {
  if (batch_) {
    batch_->add(std::move(line));
  } else {
    to_->send(line, written);
  }
}

void answer_place::drop() const {
  if (batch_) batch_->add(std::nullopt);
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
