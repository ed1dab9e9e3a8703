// Chance for names that nobody can know beforehand.
#pragma once

#include <string>

namespace pinfold {

/// 64 bits of chance as hexadecimal digits; empty when the kernel gives none.
[[nodiscard]] std::string random_digits();

}  // namespace pinfold
