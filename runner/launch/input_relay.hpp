// Carrying the caller's input to a command: bytes, never the descriptor. A command that held a
// descriptor of the host's could open what it stands for again, through /proc/self/fd, with the
// host's rights to write.
#pragma once

#include <poll.h>

#include <array>
#include <cstddef>
#include <expected>
#include <string_view>

#include <pinfold/disk/descriptor.hpp>

namespace pinfold {

/// One stream of input under way, in bounded memory. It never blocks on the command, and on its
/// source only where that is a plain file. It takes no more from its source than the command leaves
/// room for, but may take more than the command reads.
class input_relay {
 public:
  enum class target : bool { pipe, terminal };

  /// `source` is borrowed; -1 or one that is not open is an input without a byte. `to` is
  /// non-blocking: a pipe's end, or a pseudo-terminal's master, which gets its end-of-file character
  /// (EOT) at the end, twice within a line.
  input_relay(int source, descriptor to, target kind);

  /// What to poll for now; its fd is -1 when all is done, and once the source could not be read.
  [[nodiscard]] pollfd wanted() const noexcept;

  /// Moves what can be moved now. 0, or the errno of a source that cannot be read: the command has
  /// then not had all of its input, and does not learn that it has ended: the end that it reads from
  /// stays open for as long as this object lives.
  [[nodiscard]] int move();

 private:
  [[nodiscard]] int fill();
  void flush();
  void close_at_end();

  std::array<char, 64 * 1024> buffer_;
  std::string_view pending_;  ///< of the buffer
  descriptor own_;            ///< the source again, non-blocking, where that is possible
  int source_;
  bool is_socket_{false};
  bool is_at_end_{false};
  bool is_broken_{false};
  bool is_in_a_line_{false};  ///< what went last was no line end
  descriptor to_;
  target kind_;
};

}  // namespace pinfold
