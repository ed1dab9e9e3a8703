#!/usr/bin/env bash
# Measures what the messages of `pinfold mcp` cost and prints each ratio with its limit; exits with 1 when
# one is not met. Installs what is missing, builds build/release. The table, the JSON and a plot of the
# round trips are left in bench/results (--quick: in build/release/results).
#   bash bench/mcp.sh [--quick]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/begin.sh"
c++ -std=c++23 -O3 -DNDEBUG -static -Wall -Wextra -Werror -o "$work/mcp_messages" bench/mcp_messages.cpp

met=0
python3 -B bench/mcp.py "$PWD/build/release/runner/pinfold" "$work/mcp_messages" "$work" "$@" |
  tee "$kept/mcp.md" || met=1
[ -e "$work/mcp.json" ] || exit 1
cp "$work/mcp.json" "$kept/"
gnuplot <<GNUPLOT
set terminal svg size 720,420 font "sans-serif,13" background "white"
set output "$kept/mcp.svg"
set title "One read_file of 4 KiB at a time"
set xlabel "microseconds"
set ylabel "part of the calls that took no longer"
set key right bottom
set grid
set logscale x
plot "$work/mcp.echo" using 2:1 every 20 with lines title "a pipe round trip", \
     "$work/mcp.loop" using 2:1 every 20 with lines title "parse and answer alone", \
     "$work/mcp.ours" using 2:1 every 20 with lines title "pinfold mcp"
GNUPLOT
exit "$met"
