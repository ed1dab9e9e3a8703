// The text of a JSON value, for all who write one.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace pinfold {

/// On one line, or with `indent` spaces for each depth where that is not negative. What is no UTF-8 in a
/// string becomes replacement characters; it throws only where memory is short.
[[nodiscard]] std::string dumped(const nlohmann::ordered_json& value, int indent = -1);

}  // namespace pinfold
