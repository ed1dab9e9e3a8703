// What the harness asks for in one run: the options of `pinfold run`, as data. Nothing that comes
// from inside the workspace or from a model may set any of it but `command` and `directory`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <pinfold/sandbox/confinement.hpp>

namespace pinfold {

/// NAME takes the caller's value, NAME=VALUE sets one.
struct environment_request {
  std::string name;
  std::optional<std::string> value;
};

struct run_request {
  std::string workspace;  ///< as it was given; links are followed
  std::string directory;  ///< where the command starts, relative to the workspace; empty: its top
  std::vector<std::string> command;
  std::vector<std::string> read_roots;
  std::vector<std::string> sockets;  ///< sockets outside the workspace that stay within reach
  std::vector<environment_request> environment;
  root_profile root{root_profile::host};
  network_access network{network_access::off};
  workspace_access access{workspace_access::read_write};
  std::uint64_t tmp_size{confinement{}.scratch_bytes};  ///< bytes of each scratch place
};

}  // namespace pinfold
