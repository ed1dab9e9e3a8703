#!/usr/bin/env bash
# The long form of the load tests: RUNS concurrent runs on one workspace, half of them killed hard, as
# root (when we are) and as an ordinary user; nothing of them may be left.
#   bash tests/load.sh [BUILD_DIR] [RUNS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PINFOLD PINFOLD_RUNS="${2:-200}" PINFOLD_BWRAP_MUST_WORK=1
PINFOLD="$(realpath "${1:-build/dev}/runner/pinfold")"
exec python3 -B tests/e2e/boundary/state_test.py
