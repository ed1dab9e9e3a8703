// One call of a tool on its way through the server.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "mcp/server.hpp"

namespace pinfold::mcp {

struct server::job {
  std::uint64_t number{0};
  request_id id;
  const tool* called{nullptr};
  std::shared_ptr<const json> held;  ///< the arguments, where there are any
  const json* arguments{nullptr};
  std::optional<request_id> progress_token;
  answer_place place;
  std::stop_source stop{std::nostopstate};
  workers* runs_on{nullptr};  ///< null: the thread that reads
  std::vector<answered_question> asked{};  ///< of a person, by the thread that acts
};

}  // namespace pinfold::mcp
