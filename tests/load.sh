#!/usr/bin/env bash
# The long forms of the load tests, as root (when we are) and as an ordinary user:
#   RUNS concurrent runs on one workspace, half of them killed hard, and nothing of them is left;
#   300 runners killed hard at random moments; 500 runs cancelled at random moments.
#   bash tests/load.sh [BUILD_DIR] [RUNS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build="$(realpath "${1:-build/dev}")"
export PINFOLD="$build/runner/pinfold" PINFOLD_RUNS="${2:-200}" PINFOLD_BWRAP_MUST_WORK=1
export PINFOLD_KILLS=300 PINFOLD_CANCELS=500
python3 -B tests/e2e/boundary/state_test.py
python3 -B tests/e2e/boundary/killed_test.py
"$build/tests/runner/cancel_test"
