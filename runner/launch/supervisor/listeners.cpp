// Listening sockets that stage two made inside; what becomes of them is whose they were asked for.
#include <string>
#include <utility>

#include "launch/supervisor.hpp"

namespace pinfold {

void supervisor::take_listener(descriptor socket) {
  if (listeners_.size() < extras_.listeners.size()) listeners_.push_back(std::move(socket));
}

/// Nothing, or why the command may not start.
std::optional<refusal> supervisor::open_listeners() {
  if (listeners_.size() != extras_.listeners.size()) {
    return runner_refusal(plan_, code::sandbox_unavailable, "it did not hand out its listeners");
  }
  if (listeners_.empty()) return std::nullopt;
  return extras_.when_listening(std::move(listeners_));
}

}  // namespace pinfold
