#include "launch/random_digits.hpp"

#include <sys/random.h>

#include <charconv>
#include <cstdint>
#include <iterator>

namespace pinfold {

std::string random_digits() {
  std::uint64_t chance = 0;
  if (::getrandom(&chance, sizeof chance, 0) != sizeof chance) return {};
  char digits[16];
  return {digits, std::to_chars(std::begin(digits), std::end(digits), chance, 16).ptr};
}

}  // namespace pinfold
