// A number in words of the kernel's files.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pinfold::stage {

/// Room for any 64-bit number in octal or decimal, and a NUL.
inline constexpr std::size_t most_digits = 24;

/// The digits of `value`, with a NUL behind them; they end where `room` ends.
inline char* digits(std::uint64_t value, unsigned base, char (&room)[most_digits]) {
  char* at = room + most_digits - 1;
  *at = '\0';
  do {
    *--at = static_cast<char>('0' + value % base);
    value /= base;
  } while (value != 0);
  return at;
}

}  // namespace pinfold::stage
