#!/usr/bin/env bash
# Measures what the runner costs and prints each ratio with its limit; exits with 1 when one is not
# met. Installs what is missing, builds build/release. The table, the JSON and a plot of the latencies
# are left in bench/results (--quick: in build/release/results).
#   bash bench/runner.sh [--quick]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/begin.sh"
cc -O2 -static -Wall -Wextra -Werror -o "$work/starter" bench/starter.c

met=0
python3 bench/runner.py "$PWD/build/release/runner/pinfold" "$work/starter" "$work" "$@" |
  tee "$kept/runner.md" || met=1
[ -e "$work/runner.json" ] || exit 1
cp "$work/runner.json" "$kept/"
gnuplot <<GNUPLOT
set terminal svg size 720,420 font "sans-serif,13" background "white"
set output "$kept/many.svg"
set title "Latency of 200 runs at once"
set xlabel "milliseconds"
set ylabel "part of the runs that took no longer"
set key right bottom
set grid
plot "$work/many.bare" using 2:1 with lines title "bwrap, the same argv", \
     "$work/many.ours" using 2:1 with lines title "pinfold run"
GNUPLOT
exit "$met"
