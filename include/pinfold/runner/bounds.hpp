// What bounds one run, and where its events go while it lasts. Plain data.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace pinfold {

enum class stream : std::uint8_t { out, err };

/// What all processes of a confined command may use together. None: no limit. A run without a boundary
/// refuses them (NotEnforceable): nothing counts its processes there. Memory and processes are bound by
/// the kernel where a cgroup v2 was delegated to this process and it sits in a leaf of that (it is never
/// moved), and watched over elsewhere; the record's `enforced` says which.
struct resource_limits {
  std::optional<std::uint64_t> memory;     ///< bytes
  std::optional<std::uint64_t> processes;  ///< tasks: every thread counts
  std::optional<std::chrono::milliseconds> cpu_time;
  std::optional<std::uint64_t> file_size;  ///< bytes of any one file

  [[nodiscard]] bool is_any() const noexcept {
    return memory || processes || cpu_time || file_size;
  }
};

/// The bounds of one run.
struct limits {
  std::optional<std::chrono::milliseconds> time;  ///< none: no limit
  std::chrono::milliseconds grace{2000};          ///< from SIGTERM to SIGKILL
  std::size_t output{256 * 1024};                 ///< bytes kept of each stream, head and tail
  resource_limits resources{};
};

/// Where a run's events go. All are optional.
struct sinks {
  /// Gets the head of each stream as it comes, on the calling thread; never more than the cap.
  std::function<void(stream, std::string_view)> on_output;
  /// Borrowed; when it becomes readable the run is ended like a timeout and recorded as cancelled.
  int cancel_descriptor{-1};
};

}  // namespace pinfold
