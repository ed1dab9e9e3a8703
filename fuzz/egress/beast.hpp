// Boost.Beast as a second reader of what the proxy writes: the one of many servers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold_fuzz {

struct seen_by_beast {
  std::string method;
  std::string target;
  std::vector<std::string> hosts;
  std::optional<unsigned long long> length;
  bool is_chunked{false};
};

/// The request whose head this is; nothing when Beast takes it for none, or for more or less than it.
std::optional<seen_by_beast> read_by_beast(std::string_view head);

}  // namespace pinfold_fuzz
