// Cancelled at any moment, before the command's start too, a run leaves no process, no descriptor,
// no file and no mount. PINFOLD_CANCELS says how many times (tests/load.sh: 500).
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <thread>

#include "runner/embedded.hpp"
#include "support/catch.hpp"

using namespace pinfold;
using namespace std::chrono_literals;
using pinfold_test::boundary;
using pinfold_test::embedding;
using pinfold_test::open_descriptors;
using pinfold_test::paths_below;
using pinfold_test::processes_left;

namespace {

int wanted_cancels() {
  const char* text = std::getenv("PINFOLD_CANCELS");
  return text == nullptr ? 60 : std::atoi(text);
}

/// Half of them within the first third of a start, when nothing runs yet; the others until well
/// after it, so that some are cancelled while the command runs, on a busy machine too.
std::chrono::microseconds moment(std::mt19937& chance, int turn, std::chrono::microseconds start) {
  const auto most = turn % 2 == 0 ? start / 3 : start * 2 + 20ms;
  return std::chrono::microseconds{std::uniform_int_distribution<long>{0, most.count()}(chance)};
}

}  // namespace

TEST_CASE("cancelled at random moments, a run ends lawfully and leaves nothing at all") {
  const embedding here;
  std::filesystem::create_directory(here.workspace() + "/.git");
  const auto word = "pinfold-cancel-" + std::to_string(::getpid());
  for (const auto kind : here.boundaries()) {
    const auto start = here.run(kind, "true").setup;  // and what a repository lacks is made once
    const auto descriptors = open_descriptors();
    const auto mounts = pinfold_test::text_of("/proc/self/mountinfo");
    const auto files = paths_below(here.place.path);
    const auto since = std::filesystem::file_time_type::clock::now();
    std::mt19937 chance{20240229};
    int cancelled = 0;
    int before_the_start = 0;
    for (int i = 0; i < wanted_cancels(); ++i) {
      INFO("run " << i);
      bool has_started = false;
      sinks events;
      events.on_started = [&](const run_record&) { has_started = true; };
      const auto now = here.start(kind, "setsid sleep 300 & sleep 0.03 # " + word,
                                  {.time = {}, .grace = 10ms}, events);
      std::this_thread::sleep_for(moment(chance, i, start));
      now.cancel();
      const auto& record = now.wait();
      CHECK((record.ended == ending::cancelled || record.ended == ending::exited));
      CHECK_FALSE(record.error);
      cancelled += record.ended == ending::cancelled ? 1 : 0;
      before_the_start += has_started ? 0 : 1;
      if (i % 10 == 0) CHECK(processes_left(word).empty());
    }
    CHECK(processes_left(word).empty());
    CHECK(open_descriptors() == descriptors);
    CHECK(pinfold_test::text_of("/proc/self/mountinfo") == mounts);
    CHECK(paths_below(here.place.path) == files);
    CHECK(pinfold_test::homes_left(here.workspace(), since).empty());
    CHECK(cancelled > 0);
    CHECK(before_the_start > 0);
    CHECK(before_the_start < wanted_cancels());
    std::cout << (kind == boundary::sandbox ? "sandbox: " : "none: ") << wanted_cancels()
              << " runs, " << cancelled << " cancelled, " << before_the_start
              << " before their start; nothing is left\n";
  }
}
