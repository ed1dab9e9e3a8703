// The options that bound what a confined command uses: memory, processes, processor time, files.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include <pinfold/runner/bounds.hpp>

namespace CLI {
class App;
}

namespace pinfold {

/// The words as they were given; empty: not given.
struct limit_options {
  std::string memory;
  std::string processes;
  std::string cpu_time;
  std::string file_size;
  std::string tmp_size;
};

/// So many tasks a command may have when nothing was said: far more than a build needs, far fewer
/// than bring a machine down.
inline constexpr std::uint64_t default_processes = 4096;

void add_limit_options(CLI::App& app, limit_options& to);

/// Whether any of them was given: without a sandbox none can be held.
[[nodiscard]] bool is_any_given(const limit_options& given) noexcept;

/// The checked limits of a confined run. The error is a sentence.
[[nodiscard]] std::expected<resource_limits, std::string> resource_limits_of(
    const limit_options& given);

/// The size of each scratch place, in bytes. The error is a sentence.
[[nodiscard]] std::expected<std::uint64_t, std::string> tmp_size_of(const limit_options& given);

}  // namespace pinfold
