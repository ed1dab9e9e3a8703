// The pipe through which splice(2) moves bytes from one socket to another.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <optional>

#include <pinfold/disk/descriptor.hpp>

namespace pinfold::egress_net {

struct pipe_ends {
  descriptor reading;
  descriptor writing;

  /// Nothing where there are no descriptors for it.
  [[nodiscard]] static std::optional<pipe_ends> make() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return std::nullopt;
    return pipe_ends{descriptor{ends[0]}, descriptor{ends[1]}};
  }
};

}  // namespace pinfold::egress_net
