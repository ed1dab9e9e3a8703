#!/usr/bin/env bash
# How long `true` takes in the sandbox of others: srt (npm @anthropic-ai/sandbox-runtime) and codex
# (npm @openai/codex), the latter through its npm wrapper and without it, beside `pinfold run`. They are
# installed in a temporary folder, with the network, and removed at the end. Exits with 1 when pinfold
# is not as many times faster as is promised. The table and the JSON are left in bench/results.
#   bash bench/peers.sh [--rounds N] [--versions 'srt@VERSION codex@VERSION']
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source runner/setup.sh
rounds=20 versions="srt@latest codex@latest"
while [ $# -gt 0 ]; do
  case $1 in
    --rounds) rounds=$2 ;;
    --versions) versions=$2 ;;
    *) echo "usage: bash bench/peers.sh [--rounds N] [--versions 'srt@VERSION codex@VERSION']" >&2; exit 2 ;;
  esac
  shift 2
done
need "${packages_build[@]}" "${packages_run[@]}" "${packages_peers[@]}"
command -v npm >/dev/null || { echo "peers.sh: npm is not here (Debian: npm)" >&2; exit 1; }
build release

# Neither works where its home lies below /tmp.
place=$(mktemp -d "$([ "$(id -u)" -eq 0 ] && echo /srv || echo /var/tmp)/pinfold-peers-XXXXXX")
trap 'rm -rf "$place"' EXIT
mkdir -p "$place/home" "$place/npm" bench/results
srt=${versions#*srt@} codex=${versions#*codex@}
npm install --silent --no-audit --no-fund --no-save --prefix "$place/npm" \
  "@anthropic-ai/sandbox-runtime@${srt%% *}" "@openai/codex@${codex%% *}" >"$place/npm.log" 2>&1 ||
  { cat "$place/npm.log" >&2; exit 1; }
python3 -B bench/peers.py build/release/runner/pinfold "$place" --rounds "$rounds" |
  tee "$place/peers.md" || met=1
[ -e "$place/peers.json" ] || exit 1
cp "$place/peers.md" "$place/peers.json" bench/results/
exit "${met:-0}"
