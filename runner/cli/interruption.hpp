// SIGINT and SIGTERM to the program, as a descriptor that a run can watch. Only the command line
// installs handlers; the library never does.
#pragma once

#include <pinfold/disk/descriptor.hpp>

namespace pinfold {

/// While one lives, the first SIGINT, SIGTERM or SIGHUP makes `readable_descriptor` readable, and
/// SIGPIPE is ignored. At most one at a time.
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
