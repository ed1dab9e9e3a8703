// What a run tells while it lasts, and what reaches it from outside. All of it is optional. Plain
// data: nothing here is owned, and every function is called on the thread that runs the command.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace pinfold {

struct egress_attempt;
struct run_record;

enum class stream : std::uint8_t { out, err };

/// How far a run has come.
struct progress {
  std::chrono::milliseconds elapsed{0};           ///< since the command's start
  std::optional<std::chrono::milliseconds> left;  ///< until the time limit; none: there is no limit
  std::uint64_t out_bytes{0};                     ///< all that the command wrote so far
  std::uint64_t err_bytes{0};
  /// Tasks (every thread counts) and resident bytes of the whole tree. None without a boundary, where
  /// nothing counts them, and when stage two did not answer in time.
  std::optional<std::uint64_t> processes;
  std::optional<std::uint64_t> memory;
};

/// A pseudo-terminal of the sandbox's own: the command's controlling terminal, in a session of its
/// own, and all three of its streams. What it shows comes as `stream::out`.
struct terminal_request {
  int size_of{-1};  ///< borrowed: a terminal that has the size to take; negative: 24 lines of 80
  int resized{-1};  ///< borrowed, an eventfd: when it is readable it is read, and the size taken again
};

/// Where what a run tells goes, and where what reaches it comes from.
struct sinks {
  /// Gets the head of each stream as it comes; never more than the cap.
  std::function<void(stream, std::string_view)> on_output;
  /// Gets every piece of each stream as it comes, what the record drops too. The text is only lent:
  /// nothing is held for it beyond one piece, and who takes long here lets the command wait.
  std::function<void(stream, std::string_view)> on_piece;
  /// The command runs; of the record `backend`, `network`, `workspace`, `enforced` and `setup` are
  /// known. A first piece of output may have come before.
  std::function<void(const run_record&)> on_started;
  /// A connection was let through or refused, or one that was let through has ended.
  std::function<void(const egress_attempt&)> on_egress;
  /// Once in each interval while the command runs.
  std::function<void(const progress&)> on_progress;
  std::chrono::milliseconds progress_interval{1000};
  /// Borrowed; when it becomes readable the run is ended like a timeout and recorded as cancelled.
  int cancel_descriptor{-1};
  /// Borrowed; what is read from it is carried to the command's standard input, through a pipe or the
  /// pseudo-terminal: the command never gets the descriptor itself. Negative: the input is empty.
  int input_descriptor{-1};
  std::optional<terminal_request> terminal;
};

}  // namespace pinfold
