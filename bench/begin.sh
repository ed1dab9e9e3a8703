# Sourced by the scripts that measure the program: installs what is missing and builds build/release.
# Afterwards `kept` is where results stay (with --quick as "$1" not among those that are checked in), and
# `work` a scratch directory that goes with the script.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source runner/setup.sh
need "${packages_build[@]}" "${packages_run[@]}" "${packages_bench[@]}"
build release
kept=bench/results
[ "${1:-}" != --quick ] || kept=build/release/results
mkdir -p "$kept"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
