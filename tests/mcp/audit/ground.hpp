// What the tests of the audit log share: a file in a folder of its own, a session's log on it, and the
// lines that are there.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <pinfold/disk/descriptor.hpp>

#include "mcp/audit_log.hpp"
#include "runner/ground.hpp"
#include "support/catch.hpp"

namespace pinfold_test {

struct log_file {
  folder home;
  std::string path{home.path + "/log"};

  [[nodiscard]] pinfold::descriptor open() const {
    return pinfold::descriptor{
        ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600)};
  }

  [[nodiscard]] std::unique_ptr<pinfold::mcp::audit_log> begin(
      pinfold::mcp::audit_opening facts = {.workspace = "/work/app"}) const {
    auto log = pinfold::mcp::audit_log::begin(open(), path, std::move(facts));
    REQUIRE(log);
    return std::move(*log);
  }

  [[nodiscard]] std::vector<std::string> lines() const {
    std::ifstream in{path, std::ios::binary};
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }

  [[nodiscard]] std::vector<pinfold::json> entries() const {
    std::vector<pinfold::json> all;
    for (const auto& line : lines()) all.push_back(pinfold::json::parse(line));
    return all;
  }
};

inline pinfold::mcp::tool_result result_of(std::vector<pinfold::mcp::effect> effects,
                                           std::shared_ptr<const pinfold::run_record> record = {}) {
  pinfold::mcp::tool_result result;
  result.effects = std::move(effects);
  result.record = std::move(record);
  return result;
}

inline pinfold::mcp::tool_result refused_by(pinfold::refusal why,
                                            std::vector<pinfold::mcp::effect> effects = {}) {
  auto result = result_of(std::move(effects));
  result.refused = std::move(why);
  return result;
}

/// One call, told at its begin and at its end.
class told_call {
 public:
  told_call(std::uint64_t number, std::string tool, pinfold::json arguments)
      : number_{number}, tool_{std::move(tool)}, arguments_(std::move(arguments)) {}

  [[nodiscard]] std::optional<pinfold::refusal> begins(pinfold::mcp::audit_log& log,
                                                       pinfold::taint before = {}) const {
    return log.begins({number_, tool_, arguments_, before, std::chrono::system_clock::now()});
  }

  /// Whether it was written down.
  [[nodiscard]] bool ends(pinfold::mcp::audit_log& log, const pinfold::mcp::tool_result& result,
                          pinfold::taint after = {},
                          pinfold::mcp::call_end how = pinfold::mcp::call_end::done) const {
    return !log.ended(
        {number_, tool_, how, &result, after, std::chrono::milliseconds{3}, questions});
  }

  std::vector<pinfold::mcp::answered_question> questions{};

 private:
  std::uint64_t number_;
  std::string tool_;
  pinfold::json arguments_;
};

/// No file may grow beyond this while it lives: a full disk, and one that takes a part of a line.
class small_disk {
 public:
  explicit small_disk(rlim_t most) {
    std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{most, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  small_disk(const small_disk&) = delete;
  small_disk& operator=(const small_disk&) = delete;
  ~small_disk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, SIG_DFL);
  }

 private:
  rlimit before_{};
};

}  // namespace pinfold_test
