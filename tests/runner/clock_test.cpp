// A clock that jumps: this program's wall clock goes back and forth by years at each look, and no
// run ends sooner, later or otherwise for it. Stage two, a program of its own, asks no clock at
// all.
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>

#include "runner/embedded.hpp"
#include "support/catch.hpp"

using namespace pinfold;
using namespace std::chrono_literals;
using pinfold_test::embedding;

namespace {

std::atomic<long> looks_at_the_wall = 0;

/// Ten years ahead, ten back, and so on.
time_t jumped(time_t seconds) {
  constexpr long ten_years = 10L * 365 * 86400;
  return seconds + (looks_at_the_wall++ % 2 == 0 ? ten_years : -ten_years);
}

}  // namespace

// These stand in the place of the C library's for the whole program, the C++ library's use
// included.
extern "C" {

int clock_gettime(clockid_t clock, timespec* to) noexcept {
  const auto done = ::syscall(SYS_clock_gettime, clock, to);
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) to->tv_sec = jumped(to->tv_sec);
  return static_cast<int>(done);
}

int gettimeofday(timeval* to, void*) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  *to = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* to) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (to != nullptr) *to = now.tv_sec;
  return now.tv_sec;
}

}  // extern "C"

TEST_CASE("the wall clock of this program jumps") {
  const auto first = std::chrono::system_clock::now();
  const auto second = std::chrono::system_clock::now();
  CHECK(std::chrono::abs(second - first) > std::chrono::years{10});
}

TEST_CASE("a clock that jumps neither ends a run nor keeps it from its limit") {
  const embedding here;
  for (const auto kind : here.boundaries()) {
    const auto record = here.run(kind, "sleep 0.3; exit 3", {.time = 100s});
    CHECK(record.exit_code == 3);
    CHECK(record.duration >= 250ms);
    CHECK(record.duration < 100s);
    CHECK(record.setup < 100s);
    const auto late = here.run(kind, "trap '' TERM; while :; do sleep 0.02; done",
                               {.time = 300ms, .grace = 200ms});
    CHECK(late.ended == ending::timed_out);
    CHECK(late.duration >= 500ms);
    CHECK(late.duration < 100s);
    const auto now = here.start(kind, "sleep 0.2");
    CHECK(now.wait_for(100s));
  }
}
