#!/usr/bin/env bash
# The long form of the tests of worktrees that are killed: KILLS creates and finishes, half of each, killed
# hard at random moments, as root (when we are) and as an ordinary user; after each the repository must be
# whole and no work lost.
#   bash tests/worktrees.sh [BUILD_DIR] [KILLS] [SEED]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build="$(realpath "${1:-build/dev}")"
export PINFOLD="$build/runner/pinfold" PINFOLD_WORKTREE_KILLS="${2:-200}" PINFOLD_SEED="${3:-1}"
export PINFOLD_BWRAP_MUST_WORK=1
exec python3 -B tests/e2e/worktree/many_test.py
