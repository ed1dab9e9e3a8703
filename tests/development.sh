#!/usr/bin/env bash
# The long form of the development test: installs every tool that it knows and that is not here yet
# with apt-get, and runs each inside the boundary, as root and as an ordinary user.
#   bash tests/development.sh [PINFOLD]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. runner/setup.sh
export PINFOLD="${1:-$PWD/build/dev/runner/pinfold}" PINFOLD_BWRAP_MUST_WORK=1
export PINFOLD_TOOLS="gcc g++ clang make cmake ninja git python3 curl node npm cargo go java javac gdb \
strace valgrind initdb pg_ctl psql"

declare -A package=([clang]=clang [make]=make [cmake]=cmake [ninja]=ninja-build [git]=git
  [python3]=python3 [curl]=curl [node]=nodejs [npm]=npm [cargo]=cargo [go]=golang-go
  [java]=default-jre-headless [javac]=default-jdk-headless [gdb]=gdb [strace]=strace
  [valgrind]=valgrind [initdb]=postgresql [pg_ctl]=postgresql [psql]=postgresql-client [gcc]=gcc
  [g++]=g++)
wanted=()
for tool in $PINFOLD_TOOLS; do
  found=(/usr/bin/"$tool" /usr/local/bin/"$tool" /usr/lib/go-*/bin/"$tool" /usr/lib/postgresql/*/bin/"$tool")
  for at in "${found[@]}"; do [ ! -x "$at" ] || continue 2; done
  wanted+=("${package[$tool]}")
done
need "${wanted[@]}"
exec python3 -B tests/e2e/boundary/development_test.py -v
