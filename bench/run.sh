#!/usr/bin/env bash
# Measures everything that is promised about speed and prints each ratio with its limit; exits with 1
# when one is not met. Installs what is missing, builds in build/bench.
#   bash bench/run.sh [RUNS]
# Each benchmark program is started RUNS times (7), because where a process lies in memory shifts its
# rows by several percent; inside a run the rows' repetitions are interleaved at random. The JSON is
# left in build/bench/results, the table and the plots in bench/results. The tree is made in TMPDIR.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source runner/setup.sh
need "${packages_build[@]}" "${packages_bench[@]}"
build bench

runs="${1:-7}"
raw=build/bench/results
rm -rf "$raw"
mkdir -p "$raw" bench/results
# measure NAME PROGRAM [WORD]: one start of a program, its JSON under NAME.
measure() {
  echo "Measuring $1"
  "build/bench/bench/$2" ${3:+"$3"} --benchmark_enable_random_interleaving=true \
    --benchmark_repetitions=5 --benchmark_min_time=0.01 --benchmark_out_format=json \
    --benchmark_out="$raw/$1.json" >"$raw/log" 2>&1 || { cat "$raw/log" >&2; return 1; }
}
for ((run = 1; run <= runs; ++run)); do
  measure "lexical-$run" lexical_bench
  measure "resolver-$run" resolver_bench
done
measure growth-1 resolver_bench growth
echo "Starting commands from a small and from a large program"
python3 bench/resident.py build/bench/bench/resident_start --json "$raw/resident.json"
echo "Compiling pinfold/guard.hpp and its like"
bash bench/compile_time.sh >"$raw/compile_time.txt"
bash bench/plot.sh "$raw"
mv "$raw"/*.svg bench/results/
python3 bench/table.py "$raw" | tee bench/results/table.md
