// The options about what a run may do: mode, gate and taint, caches, the blob directory. `run` and
// `explain` share them; `check` takes the mode alone.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include <pinfold/runner/request.hpp>

#include "sandbox/caller.hpp"

namespace CLI {
class App;
}

namespace pinfold {

/// The words as they were given; empty where they were not.
struct decision_options {
  std::string present{"autonomous"};
  std::string gate;
  std::string network;
  std::vector<std::string> taint;
  std::string blob_directory;
  std::string blob_most{"64MiB"};
  bool has_no_cache{false};
  bool shares_caches{false};
  bool no_sandbox{false};
};

void add_mode_option(CLI::App& app, std::string& to);
void add_decision_options(CLI::App& app, decision_options& to);

/// Sets what the options say in the request. `--network` is shorthand for the gate; with neither,
/// the gate is off, or on where there is no sandbox to hold it. The error is a sentence: two
/// options that contradict each other.
[[nodiscard]] std::expected<void, std::string> decide_into(run_request& request,
                                                           const decision_options& given,
                                                           const caller_environment& environment);

}  // namespace pinfold
