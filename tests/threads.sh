#!/usr/bin/env bash
# The library under ThreadSanitizer: builds two tests and what they need, nothing else, and runs them;
# each of 64 threads runs ROUNDS commands.
#   bash tests/threads.sh [ROUNDS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. runner/setup.sh
need "${packages_build[@]}" "${packages_run[@]}" "${packages_test[@]}"
build tsan
export TSAN_OPTIONS="halt_on_error=1 die_after_fork=0" PINFOLD_ROUNDS="${1:-4}"
# Where the kernel spreads a program over more of its address space than this sanitizer knows of, it
# refuses to start; so the program is started at fixed places.
for name in threads_test running_test; do
  setarch -R "build/tsan/tests/runner/$name"
done
