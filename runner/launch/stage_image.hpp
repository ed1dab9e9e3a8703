// Stage two as bytes: the static program is embedded in the library, so nothing has to be found by
// name when it is started.
#pragma once

#include <string_view>

namespace pinfold {

/// The executable's bytes; they live as long as the program.
[[nodiscard]] std::string_view stage_image() noexcept;

}  // namespace pinfold
