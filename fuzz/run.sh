#!/usr/bin/env bash
# Fuzzes for SECONDS each target in turn, or TARGET alone: installs what is missing (clang 19 and its
# runtime), builds the preset `fuzz`, starts from the corpus that is checked in, and keeps what it
# finds in build/fuzz/found/TARGET. Ends with one line for each target; the exit code is 0 only when
# no promise was broken.
#   bash fuzz/run.sh SECONDS [path_fuzz|resolve_fuzz|open_fuzz|plan_fuzz|egress_fuzz|plugged_fuzz]
# plugged_fuzz is there once a resolver was plugged in:
#   cmake --preset fuzz -DPINFOLD_FUZZ_RESOLVER=/path/to/yours.cpp
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
. runner/setup.sh

seconds="${1:-}"
if ! [[ "$seconds" =~ ^[1-9][0-9]*$ ]]; then
  echo "usage: bash fuzz/run.sh SECONDS [TARGET]" >&2
  exit 2
fi
targets=(path_fuzz resolve_fuzz open_fuzz plan_fuzz egress_fuzz)
[ $# -lt 2 ] || targets=("$2")

need "${packages_build[@]}" "${packages_fuzz[@]}" || exit 1
build fuzz || exit 1

# The trees are made in a folder of this run's own, in memory where there is a tmpfs, and go with it.
trees="$(mktemp -d -p "$([ -w /dev/shm ] && echo /dev/shm || echo "${TMPDIR:-/tmp}")")"
trap 'chmod -R u+rwx "$trees" 2>/dev/null; rm -rf "$trees"' EXIT
export PINFOLD_FUZZ_TREES="$trees"

broken=()
for target in "${targets[@]}"; do
  program="build/fuzz/fuzz/$target"
  if [ ! -x "$program" ]; then
    echo "fuzz/run.sh: there is no target $target" >&2
    exit 2
  fi
  found="build/fuzz/found/$target"
  grown="build/fuzz/corpus/$target"
  corpora=("$grown")
  for kept in "fuzz/corpus/$target" "fuzz/regressions/$target" ; do
    [ ! -d "$kept" ] || corpora+=("$kept")
  done
  # Somebody's own resolver is asked what ours is asked.
  [ "$target" != plugged_fuzz ] || corpora+=(fuzz/corpus/resolve_fuzz)
  mkdir -p "$found" "$grown"
  echo "Fuzzing $target for $seconds s; what it prints is in $found.log"
  if "$program" -max_total_time="$seconds" -max_len=1024 -timeout=25 -dict=fuzz/names.dict \
    -print_final_stats=1 -artifact_prefix="$found/" "${corpora[@]}" >"$found.log" 2>&1; then
    result="no find"
  else
    result="BROKEN"
    broken+=("$target")
    grep -a -A60 -m1 -E '^BROKEN|ERROR:|runtime error' "$found.log" | grep -av '^    #' | cut -c1-400 >&2
  fi
  executed="$(grep -a -oP 'stat::number_of_executed_units:\s*\K[0-9]+' "$found.log" | tail -n 1)"
  edges="$(grep -a -oP ' cov: \K[0-9]+' "$found.log" | tail -n 1)"
  echo "$target: ${executed:-?} executions, ${edges:-?} edges, $result"
done
if [ ${#broken[@]} -gt 0 ]; then
  echo "fuzz/run.sh: broken: ${broken[*]}; the inputs are in build/fuzz/found" >&2
  exit 1
fi
