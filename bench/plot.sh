#!/usr/bin/env bash
# Draws how the cost grows with the length of the path and with the size of the directory, from the
# JSON of the resolver's benchmark.
#   bash bench/plot.sh DIRECTORY      reads DIRECTORY/growth-*.json, writes components.svg, entries.svg
set -euo pipefail
directory="${1:?usage: bench/plot.sh DIRECTORY}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# One file for each line of a plot: size, median in microseconds.
python3 - "$directory" "$work" <<'PYTHON'
import glob, json, statistics, sys
times = {}
for path in glob.glob(sys.argv[1] + "/growth-*.json"):
    for row in json.load(open(path, encoding="utf-8"))["benchmarks"]:
        parts = row["run_name"].split("/")
        if row.get("run_type") == "iteration" and len(parts) == 3:
            times.setdefault(tuple(parts), []).append(row["cpu_time"])
for (what, name, size), values in sorted(times.items(), key=lambda item: int(item[0][2])):
    with open(f"{sys.argv[2]}/{what}.{name}", "a", encoding="utf-8") as file:
        print(size, statistics.median(values) / 1000, file=file)
PYTHON

# draw NAME TITLE LABEL SETTINGS
draw() {
  gnuplot <<GNUPLOT
set terminal svg size 720,420 font "sans-serif,13" background "white"
set output "$directory/$1.svg"
set title "$2"
set xlabel "$3"
set ylabel "microseconds for each call"
set key left top
set grid
$4
plot "$work/$1.realpath" with linespoints title "realpath", \
     "$work/$1.openat2" with linespoints title "openat2 and close", \
     "$work/$1.resolve_read" with linespoints title "resolve_read", \
     "$work/$1.open_read" with linespoints title "open_read and close"
GNUPLOT
}
draw components "Cost by the number of components" "components of the path" 'set yrange [0:40]'
draw entries "Cost by the size of the directory" "entries in the directory" 'set logscale x; set yrange [0:12]'
