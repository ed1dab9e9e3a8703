// The options that say what a command may reach while its network is open.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include <pinfold/runner/egress.hpp>

namespace CLI {
class App;
}

namespace pinfold {

/// The words as they were given; empty: not given.
struct egress_options {
  std::vector<std::string> hosts;
  std::vector<std::string> loopback;
  bool allow_no_sni{false};
  std::string bytes;
  std::string connections;
  std::string idle;
  std::string time;

  [[nodiscard]] bool has_list() const noexcept { return !hosts.empty() || !loopback.empty(); }
};

void add_egress_options(CLI::App& app, egress_options& to);

/// The checked request. Refuses a limit of a list that was not given. The error is a sentence.
[[nodiscard]] std::expected<egress_request, std::string> egress_request_of(
    const egress_options& given);

}  // namespace pinfold
