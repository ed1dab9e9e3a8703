// A record's line on its way out of the program.
#pragma once

#include "json/json.hpp"

namespace pinfold {

/// Writes the line; false when nobody reads any more. To a file it goes whole, by one write(2), since
/// several runs may append to the same one; elsewhere in pieces.
[[nodiscard]] bool write_line(int fd, const json& object);

}  // namespace pinfold
