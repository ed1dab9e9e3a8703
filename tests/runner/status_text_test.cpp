// What the status line says.
#include "cli/status_line.hpp"

#include "support/catch.hpp"

using namespace pinfold;
using namespace std::chrono_literals;

TEST_CASE("elapsed time, output so far and time left, each in the unit that keeps it short") {
  CHECK(status_text({.elapsed = 2s,
                     .left = {},
                     .out_bytes = 0,
                     .err_bytes = 0,
                     .processes = {},
                     .memory = {}},
                    80) == "pinfold: 2s, 0 B of output");
  CHECK(status_text({.elapsed = 125'900ms,
                     .left = 3725s,
                     .out_bytes = 1023,
                     .err_bytes = 1,
                     .processes = 3,
                     .memory = 5},
                    80) == "pinfold: 2m 05s, 1.0 KiB of output, 1h 02m left");
  CHECK(status_text({.elapsed = 59'999ms,
                     .left = 0ms,
                     .out_bytes = (3ULL << 29),
                     .err_bytes = 0,
                     .processes = {},
                     .memory = {}},
                    80) == "pinfold: 59s, 1.5 GiB of output, 0s left");
}

TEST_CASE("it is never longer than the terminal is wide") {
  const progress now{
      .elapsed = 2s, .left = 3s, .out_bytes = 7, .err_bytes = 0, .processes = {}, .memory = {}};
  for (const std::size_t columns : {0U, 1U, 10U, 20U}) {
    CHECK(status_text(now, columns).size() == columns);
  }
}
