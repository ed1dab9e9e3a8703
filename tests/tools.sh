#!/usr/bin/env bash
# The long form of tests/e2e/tools_test.py and of the egress list's clients: installs every tool that
# they know and lets none be skipped. A tool that is there already, from wherever, is taken as it is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. runner/setup.sh
need "${packages_build[@]}" "${packages_run[@]}" "${packages_test[@]}"
need_programs "${programs_test[@]}" go:golang-go cargo:cargo javac:default-jdk-headless
build dev
export PINFOLD="$PWD/build/dev/runner/pinfold" PINFOLD_BWRAP_MUST_WORK=1
PINFOLD_TOOLS_MUST_WORK=1 python3 -B tests/e2e/tools_test.py -v
PINFOLD_TOOLS="javac node npm" python3 -B tests/e2e/egress/runtimes_test.py -v
