// SIGINT and SIGTERM to the program, as a descriptor that a run can watch. Only the command line
// installs handlers; the library never does.
#pragma once

#include <pinfold/disk/descriptor.hpp>

namespace pinfold {

/// From the first instruction of the program to the handlers of an `interruption` the three signals
/// wait: one that came in between would end the program without a word, and its caller would have no
/// record. A hang in that time can be ended by SIGQUIT or SIGKILL.
void hold_interruptions() noexcept;
/// For a subcommand that has nothing to tell: they end it.
void let_interruptions_in() noexcept;

/// While one lives, the first SIGINT, SIGTERM or SIGHUP makes `readable_descriptor` readable, and
/// SIGPIPE is ignored. Those that were held come now. At most one at a time.
class interruption {
 public:
  interruption();
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;
  ~interruption();

  [[nodiscard]] int readable_descriptor() const noexcept { return event_.get(); }
  /// The signal that came, or 0.
  [[nodiscard]] static int signal() noexcept;
  /// Makes the descriptor readable without a signal: whoever reads our output is gone.
  void raise() const noexcept;

 private:
  descriptor event_;
};

}  // namespace pinfold
