// The launcher against the clock and against itself: cancelled at any moment, from many threads, it
// ends in a lawful way and leaves nothing. Every lawful outcome is listed.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "runner/ground.hpp"
#include "support/catch.hpp"

using namespace pinfold;
using namespace std::chrono_literals;
using pinfold_test::cancelled_by;
using pinfold_test::open_descriptors;
using pinfold_test::shell;

TEST_CASE("cancelled at any moment, a run ends lawfully and nothing is left of it") {
  const auto before = open_descriptors();
  std::mt19937 chance{20240229};
  int cancelled = 0;
  for (int i = 0; i < 50; ++i) {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    const std::chrono::microseconds delay{std::uniform_int_distribution{0, 20'000}(chance)};
    std::jthread canceller{[&] {
      std::this_thread::sleep_for(delay);
      (void)!::write(ends[1], "x", 1);
    }};
    const auto record = run(shell("setsid sleep 300 & sleep 0.01"), {.time = {}, .grace = 50ms},
                            cancelled_by(ends[0]));
    canceller.join();
    INFO("run " << i << ", " << name_of(record.ended));
    CHECK((record.ended == ending::cancelled || record.ended == ending::exited));
    CHECK_FALSE(record.error);
    cancelled += record.ended == ending::cancelled;
    ::close(ends[0]);
    ::close(ends[1]);
  }
  CHECK(cancelled > 0);
  CHECK(open_descriptors() == before);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}

TEST_CASE("time limits around the command's own end give one of the two answers") {
  std::mt19937 chance{7};
  for (int i = 0; i < 30; ++i) {
    const std::chrono::milliseconds limit{std::uniform_int_distribution{1, 25}(chance)};
    const auto record = run(shell("sleep 0.01; exit 3"), {.time = limit, .grace = 20ms});
    INFO("run " << i << ", " << name_of(record.ended));
    const bool by_itself = record.ended == ending::exited && record.exit_code == 3;
    CHECK((by_itself || record.ended == ending::timed_out));
  }
}

TEST_CASE("eight threads at once run their own commands and get their own answers") {
  const auto before = open_descriptors();
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        for (int turn = 0; turn < 10; ++turn) {
          const auto mine = std::to_string(i * 10 + turn);
          const auto record = run(shell("echo " + mine + "; sleep 300 & exit " + mine), {});
          if (record.out.text != mine + "\n" || record.exit_code != i * 10 + turn ||
              record.killed != 1) {
            ++wrong;
          }
        }
      });
    }
  }
  CHECK(wrong == 0);
  CHECK(open_descriptors() == before);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
}

TEST_CASE("a command that forks without end while it is ended leaves no process") {
  const std::string word = "pinfold-forks-" + std::to_string(::getpid());
  const auto record =
      run(shell("for i in 1 2 3 4; do (trap '' TERM; while :; do setsid sleep 0.01 & sleep 0.01; "
                "done) & done; sleep 300 # " +
                word),
          {.time = 1s, .grace = 50ms});
  CHECK(record.ended == ending::timed_out);
  // How many were killed is not said: on a busy machine the loops may not have begun.
  const auto look = run(shell("grep -l -a '[" + word.substr(0, 1) + "]" + word.substr(1) +
                              "' /proc/[0-9]*/cmdline 2>/dev/null | wc -l"),
                        {});
  CHECK(look.out.text == "0\n");
}
