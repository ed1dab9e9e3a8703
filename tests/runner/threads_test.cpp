// The library from 64 threads at once: the test that runs under ThreadSanitizer (preset `tsan`).
// PINFOLD_ROUNDS says how many commands each thread runs.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "runner/embedded.hpp"
#include "support/catch.hpp"

using namespace pinfold;
using namespace std::chrono_literals;
using pinfold_test::boundary;
using pinfold_test::embedding;
using pinfold_test::open_descriptors;

namespace {

constexpr int thread_count = 64;

int wanted_rounds() {
  const char* text = std::getenv("PINFOLD_ROUNDS");
  return text == nullptr ? 1 : std::atoi(text);
}

/// One blocking run, with all sinks; true when the answer is this thread's own.
bool runs(const embedding& here, boundary kind, const std::string& mine) {
  std::string live;
  bool has_started = false;
  sinks events;
  events.on_output = [&](stream, std::string_view text) { live += text; };
  events.on_started = [&](const run_record&) { has_started = true; };
  const auto record = here.run(kind, "echo " + mine, {}, events);
  return record.out.text == mine + "\n" && live == record.out.text && has_started;
}

/// One run that others wait for while it is cancelled.
bool is_cancelled(const embedding& here, boundary kind) {
  const auto now = here.start(kind, "sleep 300", {.time = {}, .grace = 20ms});
  std::atomic<int> over = 0;
  {
    std::vector<std::jthread> waiting;
    for (int i = 0; i < 2; ++i) {
      waiting.emplace_back([&] { over += now.wait().ended == ending::cancelled ? 1 : 0; });
    }
    (void)now.wait_for(1ms);
    std::jthread canceller{[&] { now.cancel(); }};
  }
  return over == 2 && now.wait_for(0ms);
}

}  // namespace

TEST_CASE("sixty-four threads run, wait for and cancel commands of their own") {
  const embedding here;
  for (const auto kind : here.boundaries()) {
    const auto before = open_descriptors();
    std::atomic<int> wrong = 0;
    {
      std::latch all_there{thread_count};
      std::vector<std::jthread> threads;
      for (int i = 0; i < thread_count; ++i) {
        threads.emplace_back([&, i] {
          all_there.arrive_and_wait();
          for (int round = 0; round < wanted_rounds(); ++round) {
            const auto mine = std::to_string(i) + "." + std::to_string(round);
            if (!(i % 2 == 0 ? runs(here, kind, mine) : is_cancelled(here, kind))) ++wrong;
          }
        });
      }
    }
    CHECK(wrong == 0);
    CHECK(open_descriptors() == before);
    CHECK(pinfold_test::processes_left("pinfold-no-such-word").empty());
  }
}
