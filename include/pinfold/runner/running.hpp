// A run under way, for programs that have something else to do meanwhile.
#pragma once

#include <chrono>
#include <expected>
#include <functional>
#include <memory>

#include <pinfold/refusal.hpp>
#include <pinfold/runner/record.hpp>

namespace pinfold {

/// A command that runs on a thread of its own, which lives as long as the run: it goes on when the
/// thread that asked for it has ended. That thread takes no signal. Every member but the destructor
/// and the moves may be called from several threads at once; none from a sink of the same run, where
/// only `cancel` is allowed. A `running` that was moved from may only be destroyed or assigned to.
class running {
 public:
  running(running&&) noexcept;
  running& operator=(running&&) noexcept;
  /// Cancels what still runs, and waits until nothing of it is left.
  ~running();

  /// Blocks until the end. At return nothing of the command's process tree is alive, and every
  /// descriptor of the run but those of this object is closed. Throws what a sink threw: the run was
  /// then cancelled. The record lives as long as this object.
  [[nodiscard]] const run_record& wait() const;

  /// True when the run is over, at the latest after this long; `wait` then blocks no more.
  [[nodiscard]] bool wait_for(std::chrono::milliseconds most) const;

  /// Ends the run at any moment, before the command's start too, like a timeout: SIGTERM, the grace,
  /// SIGKILL. Does not wait. The record says `cancelled`, unless the command's end was earlier.
  void cancel() const noexcept;

  /// Borrowed; becomes readable at the end and stays so. For poll(2) and event loops; not to be read.
  [[nodiscard]] int ended_descriptor() const noexcept;

 private:
  friend class runner;
  struct state;
  explicit running(std::unique_ptr<state> now) noexcept;

  /// `work` gets the descriptor that cancels it. Error: ResourceExhausted.
  [[nodiscard]] static std::expected<running, refusal> on_a_thread(
      std::function<run_record(int)> work);

  std::unique_ptr<state> now_;
};

}  // namespace pinfold
