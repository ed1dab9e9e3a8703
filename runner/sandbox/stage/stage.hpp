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

  static constexpr std::uint32_t most_scratch = 16;
  const char* scratch[most_scratch]{};  ///< the writable places with a size
  std::uint32_t scratch_count{0};
  const char** open{nullptr};  ///< below these a file may be opened for writing
  std::uint32_t open_count{0};

  int master{-1};  ///< of the pseudo-terminal, where one was asked for
  int slave{-1};
  char terminal[32]{};  ///< its name

  [[nodiscard]] bool has_terminal() const { return (counts.flags & flag_terminal) != 0; }
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
  [[nodiscard]] const char* end() const { return end_; }

 private:
  const char* at_;
  const char* end_;
};

/// What came in `spec_fd`, mapped until the end.
text_reader open_specification();

void send(message what);
/// The same with a descriptor, which stays open here.
void send_with(message what, int passed);

/// Gives up: reports the step, an errno (0: the proof was taken and does not hold) and the place.
[[noreturn]] void fail(step where, int error = 0, const char* place = "");

/// What a path that has to be covered may fail with: a socket comes and goes while we start, and one in
/// a directory that this user may not enter is nothing that the command could reach.
[[nodiscard]] bool is_out_of_reach(int error);

/// Reads a short file of /proc into `to` and puts a NUL behind it. The number of bytes; 0 or less
/// when it cannot be read or does not fit.
ssize_t read_file(const char* path, char* to, std::size_t size);

/// The runner's next word; 0 when it is gone.
char next_word();

/// Until the runner says this word; false when it says another or is gone. What a cgroup of the runner's
/// bounds is not looked at here as well.
bool wait_for(char word, specification& spec);

/// Everything up to `ready`: closes and marks descriptors, reads the specification, makes files,
/// enters the directory, takes the proofs, closes the last doors. Gives up through `fail`. `obtained`
/// is what depends on the kernel (`obtained_...`).
specification prepare(std::uint64_t& obtained);

/// The proofs, each by reading what the kernel says from the inside. One that cannot be taken counts
/// as failed.
void prove_descriptors(unsigned held);
void prove_no_privileges();
void prove_no_way_out();
void prove_namespaces(const specification& spec);
void prove_sysctls_are_closed();
void prove_cgroups_are_closed();
void check_proofs(const specification& spec, text_reader& reader);
void prove_places(specification& spec, text_reader& reader);
void prove_mounts(const specification& spec);

/// Moves into a mount namespace of its own, in which no mount comes off the one below it: not by a call,
/// and not when the namespace ends while somebody holds a directory of it. Gives up all privileges again.
void lock_mounts(const specification& spec);

/// What is put on at the end, in this order; each is tried once it is there.
std::uint64_t restrict_by_landlock(const specification& spec);
void filter_system_calls(const specification& spec);

/// Listens on the ports that were asked for and hands the sockets to the runner.
void hand_out_listeners(const specification& spec);

/// The command's pseudo-terminal, and the report that everything is done, which hands it out.
void open_terminal(specification& spec);
void send_ready(specification& spec, std::uint64_t obtained);

/// Puts on the limits that the kernel keeps for each process.
void set_limits(const specification& spec);

/// Looks at the whole tree, for the limits that no kernel counter keeps here.
class limit_watch {
 public:
  static constexpr int tick_milliseconds = 20;

  explicit limit_watch(const specification& spec) : spec_{spec} {}
  [[nodiscard]] bool is_needed() const;
  /// The limit that is passed now.
  [[nodiscard]] limited passed();

 private:
  const specification& spec_;
  std::uint64_t last_task_{0};
};

/// Sends what the whole tree holds now: tasks and resident bytes.
void report_usage();

[[nodiscard]] bool is_a_scratch_place_full(const specification& spec);

/// Starts the command; 0 or the errno that explains why it did not.
int start(const specification& spec, pid_t& child);

/// Sends SIGKILL to every descendant, for when there is no PID namespace.
void kill_descendants();

}  // namespace pinfold::stage
