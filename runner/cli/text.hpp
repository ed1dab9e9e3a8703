// Text at the edge of the program: durations and sizes that people write (quantity.cpp), words for
// a shell (text.cpp), and foreign bytes for a terminal. Bad input is refused with a sentence, never
// mended.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "json/showable.hpp"

namespace pinfold {

inline constexpr std::chrono::milliseconds shortest_duration{1};
inline constexpr std::chrono::milliseconds longest_duration = std::chrono::days{30};

/// A duration: digits, perhaps '.' and digits, then "ms", "s", "m" or "h"; a bare number is
/// seconds. It must be a whole number of milliseconds from 1 ms to 30 days. No sign, no space, no
/// exponent. The error is one sentence that names `text` and what would do.
[[nodiscard]] std::expected<std::chrono::milliseconds, std::string> parse_duration(
    std::string_view text);

struct size_range {
  std::uint64_t least{1};
  std::uint64_t most{1ULL << 40};
};

/// What `--max-output` may be: both streams are kept in memory and once more in the record, so a
/// gibibyte is the most that makes sense.
inline constexpr size_range output_sizes{1, 1ULL << 30};

/// A size in bytes: digits, perhaps '.' and digits, then a unit. "K", "KiB" = 1024, "kB", "KB" =
/// 1000, likewise M, G, T; "B" or nothing = bytes. It must be a whole number of bytes in `allowed`.
/// The error is one sentence that names `text` and what would do.
[[nodiscard]] std::expected<std::uint64_t, std::string> parse_size(std::string_view text,
                                                                   size_range allowed = {});

/// A size in the largest unit that divides it, so exactly: "256 KiB", "1 MiB", "1000 bytes".
[[nodiscard]] std::string readable_size(std::uint64_t bytes);

/// One word for a POSIX shell, which reads it back byte for byte (NUL cannot be in an argument). It
/// is bare where that is safe. What `terminal_safe` would show in another form is written as
/// "$(printf '\ooo')", so that the word can also be shown; newline alone stays as it is.
[[nodiscard]] std::string shell_quote(std::string_view word);

/// The words, quoted, with one space between them: a command for `sh -c`.
[[nodiscard]] std::string shell_join(std::span<const std::string> words);

}  // namespace pinfold
