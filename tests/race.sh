#!/usr/bin/env bash
# The long form of the race tests: every operation raced at least ATTEMPTS times by a second process,
# with and without openat2. Prints the outcomes; fails when one of them is not lawful.
#   bash tests/race.sh [BUILD_DIR] [ATTEMPTS]
# The trees are made in /dev/shm where there is one, so that fsync does not decide how long it takes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build="${1:-build/dev}"
export PINFOLD_RACE_ATTEMPTS="${2:-200000}"
if [[ -z "${TMPDIR:-}" && -w /dev/shm ]]; then export TMPDIR=/dev/shm; fi
exec "$build/tests/disk/race_test"
