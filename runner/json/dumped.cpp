// The only place that serializes: of an answer of the server's, most of the time is spent here, so this
// file is compiled for speed where the rest is compiled for size.
#include "json/dumped.hpp"

#include <nlohmann/json.hpp>

namespace pinfold {

std::string dumped(const nlohmann::ordered_json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace pinfold
