#!/usr/bin/env bash
# The long form of tests/e2e/tools_test.py and of the egress list's clients: installs every tool that
# they know and lets none be skipped. A tool that is there already, from wherever, is taken as it is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. runner/setup.sh
need "${packages_build[@]}" "${packages_run[@]}" "${packages_test[@]}"
for tool in go:golang-go cargo:cargo node:nodejs npm:npm; do
  PATH=/bin:/usr/bin command -v "${tool%:*}" >/dev/null || need "${tool#*:}"
done
build dev
export PINFOLD="$PWD/build/dev/runner/pinfold" PINFOLD_BWRAP_MUST_WORK=1
PINFOLD_TOOLS_MUST_WORK=1 python3 -B tests/e2e/tools_test.py -v
PINFOLD_TOOLS="node npm" python3 -B tests/e2e/egress/clients_test.py -v
