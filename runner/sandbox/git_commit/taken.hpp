// The objects that a command left, copied by name and within bounds to where it never wrote: whoever
// still holds a descriptor of the originals changes nothing any more. Nothing in them is read here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

struct taken_bounds {
  std::size_t names{200'000};                    ///< looked at
  std::size_t packs{256};
  std::uint64_t bytes{std::uint64_t{4} << 30};   ///< of all files together, as they lie there
};

struct not_taken {
  enum class fault : bool { of_the_command, of_the_disk };
  std::string why;  ///< a clause
  fault whose{fault::of_the_command};
};

/// Asked for each name: why it goes no further, or nothing.
using ask_to_stop = std::function<std::string()>;

/// Copies from one object directory to another, both open: loose objects and packs, by their names
/// alone. An empty one ends it: git asks the disk for all the others anew for each object that is none.
/// Not taken: indexes of packs (they are made anew), `info` (alternates lead anywhere), and
/// whatever has another name. Returns the names of the packs ("pack-X.pack"). Errors: a link, a
/// special file or an empty one under the name of an object, and too much of it, are the command's; a stop and what else the file
/// system said is the disk's.
[[nodiscard]] std::expected<std::vector<std::string>, not_taken> take_objects(
    int from, int to, std::string_view format, const taken_bounds& most = {},
    const ask_to_stop& stopped = {});

}  // namespace pinfold
