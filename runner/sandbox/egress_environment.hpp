// How programs are told of the proxy: by the variables that they look at.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <pinfold/runner/egress.hpp>

namespace pinfold {

/// NAME=VALUE entries for a command whose proxy listens on this port of its loopback. They are a
/// convenience: a program that does not look at them reaches nothing.
[[nodiscard]] std::vector<std::string> egress_environment(const egress_request& request,
                                                          std::uint16_t port);

}  // namespace pinfold
