// Runs a piece of a test in a child process, so that what it does to the process (user, working
// folder, namespaces, descriptors) ends with it.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>

namespace pinfold_test {

/// The text that `work()` returns in a child. A child that throws answers "threw: ..."; one that
/// dies, or that runs longer than `seconds`, answers "died: N" with its wait status.
template <typename Work>
std::string isolated(Work&& work, unsigned seconds = 60) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return "died: no pipe";
  std::fflush(nullptr);
  const auto child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    ::alarm(seconds);
    std::string answer;
    try {
      answer = std::forward<Work>(work)();
    } catch (const std::exception& thrown) {
      answer = std::string{"threw: "} + thrown.what();
    }
    for (std::size_t sent = 0; sent < answer.size();) {
      const auto n = ::write(ends[1], answer.data() + sent, answer.size() - sent);
      if (n <= 0) ::_exit(1);
      sent += static_cast<std::size_t>(n);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string answer;
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = ::read(ends[0], buffer.data(), buffer.size())) > 0;) {
    answer.append(buffer.data(), static_cast<std::size_t>(n));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0 ? answer : "died: " + std::to_string(status);
}

}  // namespace pinfold_test
