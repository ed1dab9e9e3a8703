// The parts of stage two. Built without exceptions and without the C++ library's code: everything
// here is a system call and a few lines around it.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "launch/stage_protocol.hpp"

namespace pinfold::stage {

/// The specification as it lies in memory. Texts are NUL-terminated and live until the end.
struct specification {
  head counts{};
  const char* directory{nullptr};
  char** arguments{nullptr};    ///< NULL-terminated
  char** environment{nullptr};  ///< NULL-terminated
  const char* rest{nullptr};    ///< files and proofs, still packed
  const char* end{nullptr};

  [[nodiscard]] bool is_confined() const { return (counts.flags & flag_confined) != 0; }
};

/// A reader over the packed texts; gives up through `fail` at the first length that does not fit.
class text_reader {
 public:
  text_reader(const char* at, const char* end) : at_{at}, end_{end} {}
  const char* text(std::uint32_t& length);
  const char* text() {
    std::uint32_t length = 0;
    return text(length);
  }
  void bytes(void* to, std::size_t size);
  [[nodiscard]] const char* at() const { return at_; }

 private:
  const char* at_;
  const char* end_;
};

void send(message what);
[[noreturn]] void fail(step where, int error);

/// Everything up to `ready`: closes and marks descriptors, reads the specification, makes files,
/// enters the directory, checks the proofs. Gives up through `fail`.
specification prepare();
void check_proofs(const specification& spec, text_reader& reader);

/// Starts the command; 0 or the errno that explains why it did not.
int start(const specification& spec, pid_t& child);

/// Sends SIGKILL to every descendant, for when there is no PID namespace.
void kill_descendants();

}  // namespace pinfold::stage
