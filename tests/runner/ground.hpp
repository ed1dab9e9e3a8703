// What the launcher's tests share: plans for backend `none`, and a count of what a run must not leave.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "launch/run.hpp"

namespace pinfold_test {

inline pinfold::launch_plan plan_of(std::vector<std::string> command) {
  pinfold::launch_plan plan;
  plan.command = std::move(command);
  plan.environment = {"PATH=/usr/bin:/bin"};
  plan.directory = "/";
  plan.network = pinfold::network_access::on;
  return plan;
}

inline pinfold::launch_plan shell(std::string text) {
  return plan_of({"/bin/sh", "-c", std::move(text)});
}

inline pinfold::sinks cancelled_by(int descriptor) {
  pinfold::sinks events;
  events.cancel_descriptor = descriptor;
  return events;
}

/// The descriptors of this process, the one that lists them included.
inline auto open_descriptors() {
  return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, {});
}

/// An empty directory, gone at the end.
struct folder {
  folder() {
    if (::mkdtemp(path.data()) == nullptr) std::abort();
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() { std::filesystem::remove_all(path); }
  std::string path{"/tmp/pinfold-test-XXXXXX"};
};

}  // namespace pinfold_test
