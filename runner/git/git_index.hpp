// git's index, read for one thing: which paths of it are repositories of their own (gitlinks), which
// git on the host goes into. It never allocates by what the file says.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// More of an index is not read: a checkout of 300,000 files has about as much.
inline constexpr std::size_t most_of_an_index = std::size_t{32} << 20;

enum class index_error : unsigned char {
  too_long,
  unreadable,
  damaged,  ///< no index of version 2, 3 or 4, with names of either hash
  split,  ///< the rest lies in another file (gitformat-index(5), "Split index"), which is not read
};

/// The paths of the gitlinks in the bytes of an index, in its order. The checksum is not looked at:
/// git may be told not to write one.
[[nodiscard]] std::expected<std::vector<std::string>, index_error> gitlinks_in(
    std::string_view bytes);

/// The same of an open file, from its beginning.
[[nodiscard]] std::expected<std::vector<std::string>, index_error> gitlinks_of(int file);

}  // namespace pinfold
