#!/usr/bin/env bash
# Measures what the egress proxy costs and prints each ratio with its limit; exits with 1 when one is
# not met. Installs what is missing, builds build/release. The table, the JSON and the plots are left in
# bench/results (--quick: in build/release/results).
#   bash bench/egress.sh [--quick]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/begin.sh"
cc -O2 -static -Wall -Wextra -Werror -o "$work/stream" bench/stream.c

met=0
python3 bench/egress.py "$PWD/build/release/runner/pinfold" "$work/stream" "$work" "$@" |
  tee "$kept/egress.md" || met=1
[ -e "$work/egress.json" ] || exit 1
cp "$work/egress.json" "$kept/"
gnuplot <<GNUPLOT
set terminal svg size 720,420 font "sans-serif,13" background "white"
set grid
set output "$kept/egress_throughput.svg"
set title "One stream through the egress proxy"
set xlabel "round"
set ylabel "GiB/s"
set yrange [0:*]
set key right bottom
plot "$work/stream.rates" using 1:2 with linespoints title "a direct connection", \
     "$work/stream.rates" using 1:3 with linespoints title "through CONNECT"
set output "$kept/egress_latency.svg"
set title "Small requests, each on a connection of its own"
set xlabel "milliseconds"
set ylabel "part of the requests that took no longer"
set yrange [0:1]
set logscale x
set xrange [*:*]
plot "$work/small.direct" using 2:1 with lines title "direct connections", \
     "$work/small.connect" using 2:1 with lines title "through CONNECT"
GNUPLOT
exit "$met"
