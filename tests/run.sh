#!/usr/bin/env bash
# Installs what the tests need, builds, and runs every test through CTest: first with the address and
# undefined-behaviour sanitizers, then as released. Ends with CTest's own summary; the exit code is 0
# only when both runs passed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
. runner/setup.sh
need "${packages_build[@]}" "${packages_run[@]}" "${packages_test[@]}" || exit 1
need_programs "${programs_test[@]}" || exit 1

# What the development test must not skip: the tools that are here because of the lists above.
export PINFOLD_TOOLS="gcc g++ make cmake ninja git python3 gdb strace man groff zsh fish node npm ssh nc.openbsd"

failed=()
for preset in asan-ubsan dev; do
  build "$preset" &&
    ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$(nproc)" ||
    failed+=("$preset")
done
if [ ${#failed[@]} -gt 0 ]; then
  echo "tests/run.sh: failed: ${failed[*]}" >&2
  exit 1
fi
