// Reading an open file in bounded parts. Nothing here knows a path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>

#include <pinfold/error.hpp>

namespace pinfold::mcp {

/// At most `most` bytes from `offset` on; fewer only at the end of the file. Memory grows with what
/// is there, not with `most`.
[[nodiscard]] std::expected<std::string, code> bytes_at(int file, std::uint64_t offset,
                                                        std::size_t most);

/// Where a line begins.
struct line_place {
  std::uint64_t offset{0};
  std::uint64_t lines{0};  ///< that were counted before it was found or given up
  bool is_there{false};
  bool is_too_far{false};

  /// A sentence for one that is not there.
  [[nodiscard]] std::string why() const;
};

/// The start of line `number` (from 1). Looks at `most` bytes and keeps 64 KiB of them.
[[nodiscard]] std::expected<line_place, code> line_at(int file, std::uint64_t number,
                                                      std::uint64_t most);

/// The size as fstat says; 0 where it cannot.
[[nodiscard]] std::uint64_t size_of(int file) noexcept;

}  // namespace pinfold::mcp
