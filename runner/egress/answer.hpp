// What a client inside is told when it is refused: the structured refusal, in the words of its
// protocol.
#pragma once

#include <string>

#include <pinfold/refusal.hpp>

#include "egress/socks.hpp"

namespace pinfold::egress_bytes {

/// The refusal as one line of JSON, with the fields that `pinfold check --json` has.
[[nodiscard]] std::string refusal_json(const refusal& why);

/// A whole HTTP response with that body: 403 for what the list or an address forbids, 400 for a
/// request that is none, 502 for a host that does not answer, 503 for a limit.
[[nodiscard]] std::string http_refusal(const refusal& why);

/// A reply to a SOCKS5 request, and the same body behind it.
[[nodiscard]] std::string socks_refusal(const refusal& why);

}  // namespace pinfold::egress_bytes
