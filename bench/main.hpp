// The common end of the benchmark programs.
#pragma once

namespace pinfold_bench {

/// Says what machine this is and runs what was registered; the program's exit code.
[[nodiscard]] int run(int count, char** arguments);

}  // namespace pinfold_bench
