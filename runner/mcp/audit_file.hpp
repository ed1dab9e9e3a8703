// A file of lines that is only ever appended to, and may be shared by several sessions: each line goes
// out whole in one write(2), and what a crash left half written is closed off before the next one, so
// that every complete line stays readable. It never seeks, truncates or rewrites.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include <pinfold/disk/descriptor.hpp>

namespace pinfold::mcp {

/// Of the entries: README, "The audit log". Fields and events may be added to a format; another number is
/// another format.
inline constexpr unsigned audit_format = 1;

/// Whether what was appended has to be on the disk (fdatasync(2)) at once, or may follow later. A program
/// that is killed loses neither; a machine that loses its power loses what was not synced.
enum class durability : std::uint8_t { later, now };

/// Not for several threads at once.
class audit_file {
 public:
  /// `opened` is open for reading and appending (O_RDWR | O_APPEND), and is what `path` leads to.
  audit_file(descriptor opened, std::string path) noexcept
      : file_{std::move(opened)}, path_{std::move(path)} {}

  /// Appends `line`, which holds no newline, and a newline. The error is a clause: why it is not in the
  /// file; whatever part of it is there is closed off by the next line. A file that was removed, that
  /// `path` does not lead to any more, or that got a second name, is an error too: nobody would find what
  /// is written there, or somebody else could write to it. Waits at most `longest_wait` for another
  /// session's line.
  [[nodiscard]] std::expected<void, std::string> append(std::string_view line);

  /// All that was appended is on the disk at the return; with `later` only where the last time is longer
  /// ago than `longest_unsynced`.
  [[nodiscard]] std::expected<void, std::string> sync(durability when);

  static constexpr std::size_t longest_line = std::size_t{1} << 20;
  static constexpr std::chrono::milliseconds longest_wait{3000};
  static constexpr std::chrono::milliseconds longest_unsynced{1000};

 private:
  [[nodiscard]] std::expected<void, std::string> append_locked(std::string_view line);

  descriptor file_;
  std::string path_;
  off_t end_{-1};  ///< where our last whole line ended; -1: not known
  std::chrono::steady_clock::time_point synced_{};
};

}  // namespace pinfold::mcp
