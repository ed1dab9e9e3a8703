// What the tests of the library's interface share: a workspace, a runner as an embedding program
// has one, and what a run must not leave of itself.
#pragma once

#include <dirent.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <pinfold/runner/runner.hpp>

#include "runner/ground.hpp"

namespace pinfold_test {

enum class boundary : bool { none, sandbox };

/// A program that embeds the runner. The home is the workspace's sibling; no cache is kept in it.
struct embedding {
  embedding() {
    std::filesystem::create_directories(workspace());
    std::filesystem::create_directories(home());
  }

  [[nodiscard]] std::string workspace() const { return place.path + "/work"; }
  [[nodiscard]] std::string home() const { return place.path + "/home"; }

  [[nodiscard]] pinfold::run_request shell(std::string text) const {
    pinfold::run_request request;
    request.workspace = workspace();
    request.command = {"/bin/sh", "-c", std::move(text)};
    request.open = pinfold::gate::on;
    request.caches = pinfold::cache_choice::none;
    return request;
  }

  [[nodiscard]] pinfold::run_record run(boundary kind, const std::string& text,
                                        const pinfold::limits& bounds = {},
                                        const pinfold::sinks& events = {}) const {
    return kind == boundary::sandbox
               ? commands.run(shell(text), bounds, events)
               : commands.run(shell(text), bounds, pinfold::unconfined{}, events);
  }

  [[nodiscard]] pinfold::running start(boundary kind, const std::string& text,
                                       const pinfold::limits& bounds = {},
                                       pinfold::sinks events = {}) const {
    auto started =
        kind == boundary::sandbox
            ? commands.start(shell(text), bounds, std::move(events))
            : commands.start(shell(text), bounds, pinfold::unconfined{}, std::move(events));
    if (!started) throw std::runtime_error{started.error().message()};
    return std::move(*started);
  }

  /// Both ways of running, or one where no sandbox can be made; where it must work, both.
  [[nodiscard]] std::vector<boundary> boundaries() const {
    const bool works = run(boundary::sandbox, "true").exit_code == 0;
    if (works || ::getenv("PINFOLD_BWRAP_MUST_WORK") != nullptr) {
      return {boundary::none, boundary::sandbox};
    }
    return {boundary::none};
  }

  folder place;
  pinfold::runner commands =
      pinfold::runner::for_caller({"PATH=/usr/bin:/bin", "HOME=" + home()}).value();
};

/// An eventfd of our own.
struct event {
  pinfold::descriptor fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  void raise() const {
    const std::uint64_t one = 1;
    if (::write(fd.get(), &one, sizeof one) != sizeof one) std::abort();
  }
};

inline std::string text_of(const std::string& path) {
  std::ifstream file{path};
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

/// Every path below a directory.
inline std::set<std::string> paths_below(const std::string& directory) {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{directory}) {
    found.insert(entry.path());
  }
  return found;
}

/// Processes with this word in their command line, whoever is their parent, and the children of
/// this process; zombies count.
inline std::vector<std::string> processes_left(const std::string& word) {
  std::vector<std::string> found;
  const auto self = std::to_string(::getpid());
  for (const auto& entry : std::filesystem::directory_iterator{"/proc"}) {
    const auto pid = entry.path().filename().string();
    if (pid.find_first_not_of("0123456789") != std::string::npos || pid == self) continue;
    const auto line = text_of(entry.path().string() + "/cmdline");
    const auto status = text_of(entry.path().string() + "/status");
    const bool is_child = status.find("\nPPid:\t" + self + "\n") != std::string::npos;
    if (is_child || line.find(word) != std::string::npos) found.push_back(pid + " " + line);
  }
  return found;
}

/// The private homes of runs in this workspace that are still there. One without its files could be
/// that of another test's run: it counts when it is there for two seconds.
inline std::set<std::string> homes_left(const std::string& workspace,
                                        std::filesystem::file_time_type since) {
  const auto look = [&] {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator{"/tmp"}) {
      std::error_code gone;
      const auto name = entry.path().string();
      if (!name.starts_with("/tmp/pinfold-home-") || entry.last_write_time(gone) < since) continue;
      const auto settings = text_of(name + "/.gitconfig");
      const bool is_empty = settings.empty() && std::filesystem::exists(entry.path(), gone);
      if (is_empty || settings.find(workspace) != std::string::npos) found.insert(name);
    }
    return found;
  };
  auto left = look();
  for (int i = 0; i < 20 && !left.empty(); ++i) {
    ::usleep(100'000);
    const auto now = look();
    std::erase_if(left, [&](const std::string& name) { return !now.contains(name); });
  }
  return left;
}

}  // namespace pinfold_test
