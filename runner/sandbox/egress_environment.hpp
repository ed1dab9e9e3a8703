// How programs are told of the proxy: by the variables that they look at.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <pinfold/runner/egress.hpp>

namespace pinfold {

/// Whether there is a program at this path.
using program_finder = bool (*)(const char* path);
[[nodiscard]] bool is_program(const char* path);

/// NAME=VALUE entries for a command whose proxy listens on this port of its loopback: the variables of
/// most programs in both spellings, node's (22.21, 24) and Java's own, and where port 22 is on the list
/// and tunnels need no TLS, a GIT_SSH_COMMAND by way of socat or nc.openbsd. They are a convenience: a
/// program that does not look at them reaches nothing.
[[nodiscard]] std::vector<std::string> egress_environment(const egress_request& request,
                                                          std::uint16_t port,
                                                          program_finder is_here = &is_program);

}  // namespace pinfold
