// A checkout to run confined commands in, and the very plan of a run there.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "sandbox/caller.hpp"
#include "sandbox/prepare.hpp"
#include "support/catch.hpp"

namespace pinfold_test {

inline bool is_root() {
  return ::geteuid() == 0;
}

/// A checkout with everything that a plan carves out, in a place that no scratch directory covers.
struct work_tree {
  work_tree() {
    namespace fs = std::filesystem;
    if (::mkdtemp(home.data()) == nullptr) std::abort();
    ::chmod(home.c_str(), 0755);
    for (const auto* name : {"work/.git/hooks", "work/.efferent", "work/.foundry", "other/.git",
                             "other/.efferent", "other/.foundry"}) {
      fs::create_directories(home + "/" + name);
    }
    std::ofstream{home + "/work/.git/config"} << "[core]\n";
  }
  work_tree(const work_tree&) = delete;
  work_tree& operator=(const work_tree&) = delete;
  ~work_tree() { std::filesystem::remove_all(home); }
  [[nodiscard]] std::string work() const { return home + "/work"; }
  std::string home{is_root() ? "/srv/pinfold-proofs-XXXXXX" : "/var/tmp/pinfold-proofs-XXXXXX"};
};

inline pinfold::prepared_run prepared_in(
    const work_tree& where, pinfold::network_access network = pinfold::network_access::off) {
  const auto who = pinfold::look_at_caller(
      pinfold::caller_environment{{"PATH=/usr/bin:/bin", "HOME=" + where.home + "/nobody"}});
  REQUIRE(who);
  pinfold::run_request request;
  request.workspace = where.work();
  request.command = {"touch", "started"};
  request.open = network == pinfold::network_access::on ? pinfold::gate::on : pinfold::gate::off;
  const auto backend = pinfold::backend_for(request, *who);
  REQUIRE(backend);
  auto ready = pinfold::prepare_confined(request, *who, *backend);
  REQUIRE(ready);
  return std::move(*ready);
}

}  // namespace pinfold_test
