// How far each part of the boundary was held in one run, as the run record says it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pinfold {

enum class strength : std::uint8_t {
  full,     ///< held, and proven from the inside where it can be
  partial,  ///< held as far as `reason` says
  none,     ///< not held: it was not asked for, or there is no boundary
};

[[nodiscard]] constexpr std::string_view name_of(strength value) noexcept {
  switch (value) {
    case strength::full:
      return "full";
    case strength::partial:
      return "partial";
    case strength::none:
      return "none";
  }
  return "none";
}

/// One part of the boundary, asked for and obtained.
struct enforced_property {
  std::string name;  ///< stable: part of the record
  strength held{strength::none};
  std::string reason;  ///< one clause, never empty
};

}  // namespace pinfold
