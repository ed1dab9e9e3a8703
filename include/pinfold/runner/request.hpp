// What the harness asks for in one run: the options of `pinfold run`, as data. Nothing that comes
// from inside the workspace or from a model may set any of it but `command` and `directory`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <pinfold/caches.hpp>
#include <pinfold/network.hpp>
#include <pinfold/runner/egress.hpp>
#include <pinfold/sandbox/confinement.hpp>
#include <pinfold/settings.hpp>
#include <pinfold/taint.hpp>

namespace pinfold {

/// NAME takes the caller's value, NAME=VALUE sets one.
struct environment_request {
  std::string name;
  std::optional<std::string> value;
};

/// One command, where it runs, and what it may reach.
struct run_request {
  std::string workspace{};  ///< as it was given; links are followed
  std::string directory{};  ///< where the command starts, relative to the workspace; empty: its top
  std::vector<std::string> command{};
  std::vector<std::string> read_roots{};
  std::vector<std::string> sockets{};  ///< sockets outside the workspace that stay within reach
  std::vector<environment_request> environment{};
  root_profile root{root_profile::host};
  mode present{mode::autonomous};
  gate open{gate::off};
  egress_request egress{};  ///< narrows an open network; needs a boundary
  taint labels{};  ///< what the session has taken in so far
  cache_choice caches{cache_choice::own};
  /// The command may commit on the branch pinfold/NAME/work of the linked worktree that the workspace
  /// is; what it committed is checked and imported afterwards (`run_record::commits`).
  bool git_commit{false};
  std::string blob_directory{};          ///< where whole outputs may be kept; empty: nowhere
  std::uint64_t blob_most{64ULL << 20};  ///< bytes of each of them
  std::uint64_t tmp_size{confinement{}.scratch_bytes};  ///< bytes of each scratch place
};

}  // namespace pinfold
