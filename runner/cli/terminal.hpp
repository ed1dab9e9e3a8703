// The person's own terminal, while a command has one of its own: what is typed passes as it is, and
// whatever happens the terminal gets its settings back.
#pragma once

#include <pinfold/disk/descriptor.hpp>

namespace pinfold {

/// While one lives, stdin (a terminal) passes each key on as it is typed, control characters too;
/// the settings come back when it ends, and when the program dies by a signal that it can catch. After
/// SIGKILL they stay, until `stty sane`: what could bring them back would have to outlive us, and what
/// is inside the sandbox must not hold this terminal. At most one at a time.
class raw_terminal {
 public:
  raw_terminal();
  raw_terminal(const raw_terminal&) = delete;
  raw_terminal& operator=(const raw_terminal&) = delete;
  ~raw_terminal();

  /// An eventfd that becomes readable when the window's size has changed (SIGWINCH).
  [[nodiscard]] int resized_descriptor() const noexcept { return resized_.get(); }

 private:
  descriptor resized_;
};

}  // namespace pinfold
