#!/usr/bin/env bash
# Measures what a worktree costs beside git alone, on a repository of 20,000 files on a tmpfs, and prints
# each ratio with its limit; exits with 1 when one is not met. Installs what is missing, builds
# build/release. The table, the JSON and a plot are left in bench/results (--quick: 2,000 files, three
# rounds, and in build/release/results). Needs a tmpfs at /dev/shm with some 500 MiB.
#   bash bench/worktree.sh [--quick]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/begin.sh"
few=()
[ "${1:-}" != --quick ] || few=(--files 2000 --rounds 3)
place="$(mktemp -d /dev/shm/pinfold-worktree-XXXXXX)"
trap 'rm -rf "$work" "$place"' EXIT

met=0
python3 -B bench/worktree.py "$PWD/build/release/runner/pinfold" "$place" "$work" "${few[@]}" |
  tee "$kept/worktree.md" || met=1
[ -e "$work/worktree.json" ] || exit 1
cp "$work/worktree.json" "$kept/"
gnuplot <<GNUPLOT
set terminal svg size 720,420 font "sans-serif,13" background "white"
set output "$kept/worktree.svg"
set title "A worktree of 20,000 files, in turns"
set xlabel "round"
set ylabel "milliseconds"
set yrange [0:*]
set key right top
set grid
plot "$work/worktree.create" using 1:3 with linespoints title "git worktree add", \
     "$work/worktree.create" using 1:2 with linespoints title "pinfold worktree create", \
     "$work/worktree.finish" using 1:3 with linespoints title "git status, git worktree remove", \
     "$work/worktree.finish" using 1:2 with linespoints title "pinfold worktree finish"
GNUPLOT
exit "$met"
