// The two symbols come from stage_image.S.
#include "launch/stage_image.hpp"

#include <cstddef>

extern "C" const char pinfold_stage_begin[];
extern "C" const char pinfold_stage_end[];

namespace pinfold {

std::string_view stage_image() noexcept {
  return {pinfold_stage_begin, static_cast<std::size_t>(pinfold_stage_end - pinfold_stage_begin)};
}

}  // namespace pinfold
