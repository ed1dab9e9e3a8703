// The network of a session in words: for a tool's description, a refusal, an answer and a person's
// question. What is decided is decided elsewhere (pinfold/network.hpp).
#pragma once

#include <string>

#include <pinfold/network.hpp>
#include <pinfold/settings.hpp>
#include <pinfold/taint.hpp>

#include "mcp/session.hpp"
#include "mcp/tool.hpp"

namespace pinfold::mcp {

/// For a tool's description: whether the network is open, what closes it, and what a command that has it
/// costs the ones after it.
[[nodiscard]] std::string network_in_words(const session& now);

/// Why the network is not simply open with that gate, mode and labels, as a clause that names them, and
/// whether that can change within the session.
[[nodiscard]] std::string why_closed(gate open, mode present, taint labels);

/// What a person is asked about the network for one command.
[[nodiscard]] question question_about_network(const std::string& command, taint labels);

}  // namespace pinfold::mcp
