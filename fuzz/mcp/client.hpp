// A client of the server under test that says a stream of bytes, cut where it likes, and hears what is
// answered. Its tools answer at once, so answers come in the order of the requests.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold_fuzz {

/// What one stream led to.
struct heard {
  std::string output;
  std::size_t begun{0};  ///< calls that the audit log was told of
  std::size_t ended{0};
};

/// Serves the whole stream in a session of its own. `cuts` are places in it, ascending: each piece between
/// two of them is read by itself.
[[nodiscard]] heard serve(std::string_view stream, const std::vector<std::size_t>& cuts);

}  // namespace pinfold_fuzz
