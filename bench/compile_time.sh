#!/usr/bin/env bash
# What including the guard costs a translation unit: the time to compile `#include
# <pinfold/guard.hpp>`, beside one with the same standard headers and the one range-v3 header.
#   bash bench/compile_time.sh [ROUNDS]
# Both are compiled in turn, ROUNDS times, and the medians of the compiler's own processor time are
# compared. The last line is `compile_time RATIO`. CXX chooses the compiler; no cache is used.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
rounds="${1:-11}"
compiler="${CXX:-g++}"
export CCACHE_DISABLE=1
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

echo '#include <pinfold/guard.hpp>' >"$work/guard.cpp"
# The standard headers that the guard's own headers name, and range-v3's.
"$compiler" -std=c++23 -Iinclude -MM "$work/guard.cpp" | tr ' \\' '\n\n' | grep '^include/pinfold/' |
  xargs sed -n 's/^#include <\([a-z_]*\)>.*/#include <\1>/p' | sort -u >"$work/same.cpp"
echo '#include <range/v3/view/interface.hpp>' >>"$work/same.cpp"

processor_time() {
  local TIMEFORMAT='%U %S'
  { time "$compiler" -std=c++23 -O2 -Iinclude -c "$1" -o /dev/null; } 2>&1 |
    awk '{ printf "%d\n", ($1 + $2) * 1000 }'
}
median() { sort -n "$1" | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }

for ((round = 0; round < rounds; ++round)); do
  for unit in guard same; do processor_time "$work/$unit.cpp" >>"$work/$unit.times"; done
done
guard="$(median "$work/guard.times")"
same="$(median "$work/same.times")"
echo "$("$compiler" --version | head -n 1); medians of $rounds"
echo "pinfold/guard.hpp: $guard ms; its standard headers and range/v3/view/interface.hpp: $same ms"
awk -v a="$guard" -v b="$same" 'BEGIN { printf "compile_time %.3f\n", a / b }'
