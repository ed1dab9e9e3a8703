// What bounds one run. Plain data.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace pinfold {

/// What all processes of a confined command may use together. None: no limit. A run without a boundary
/// refuses them (NotEnforceable): nothing counts its processes there.
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

}  // namespace pinfold
