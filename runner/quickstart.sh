#!/usr/bin/env bash
# Installs what is missing, builds pinfold, and runs its main job once in a small git checkout in a
# temporary folder, which it removes again. The exit code is 0 only when all five outcomes are as
# promised.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. runner/setup.sh
need "${packages_build[@]}" "${packages_run[@]}"
build release
pinfold=$PWD/build/release/runner/pinfold

# Not below /tmp and its like: there a command's writes land in scratch space instead of being refused.
base=$PWD/build
case $base in /tmp/* | /var/tmp/* | /dev/shm/*) base=$HOME ;; esac
demo=$(mktemp -d -p "$base" pinfold-demo.XXXXXX)
trap 'rm -rf "$demo"' EXIT
home=$demo/home checkout=$demo/home/checkout

# A home with a key in it, and below it a checkout with the harness's own state in it.
make_world() {
  mkdir -p "$home/.ssh" "$checkout/.efferent"
  echo "PRETEND-PRIVATE-KEY" >"$home/.ssh/id_rsa"
  echo "harness state" >"$checkout/.efferent/config"
  cp "$demo/attempts.sh" "$checkout/attempts.sh"
  git -C "$checkout" init -q
}

# What the confined command does; $1 is the key, $2 a file outside.
cat >"$demo/attempts.sh" <<'ATTEMPTS'
inside() { echo hello >inside.txt; }
outside() { echo hello >"$outside_file"; }
key() { cat "$key_file"; }
network() { exec 3<>/dev/tcp/192.0.2.1/80; }
state() { touch .efferent/new; }
attempt() {
  if said=$($1 2>&1); then echo "$1|done|$said"; else echo "$1|refused|${said##*: }"; fi
}
key_file=$1 outside_file=$2
for what in inside outside key network state; do attempt "$what"; done
ATTEMPTS

run_confined() {
  HOME=$home "$pinfold" run --no-cache --workspace "$checkout" --timeout 30s "$@" \
    -- bash attempts.sh "$home/.ssh/id_rsa" "$home/outside.txt"
}

# promise NAME WANTED WORDS [CHECK...]: the line of one attempt, good only when the command inside
# says WANTED and the check on this side agrees.
broken=0
promise() {
  local line verdict="as promised"
  line=$(grep "^$1|" "$demo/said") || line="$1|nothing|"
  [[ $line == "$1|$2|"* ]] && "${@:4}" || { verdict="NOT AS PROMISED"; broken=1; }
  line=${line#*|}
  printf '  %-34s %-8s %-32s %s\n' "$3" "${line%%|*}" "${line#*|}" "$verdict"
}
is_absent() { [ ! -e "$1" ]; }
never_said() { ! grep -q "$1" "$demo/said"; }

make_world
run_confined >"$demo/said" || broken=1
echo
echo "What a command in $checkout could do:"
promise inside done "write in the workspace" test -s "$checkout/inside.txt"
promise outside refused "write outside of it" is_absent "$home/outside.txt"
promise key refused "read ~/.ssh/id_rsa" never_said PRETEND-PRIVATE-KEY
promise network refused "reach the network" true
promise state refused "touch the harness's .efferent" is_absent "$checkout/.efferent/new"
echo
echo "The same again with --json, which prints the run record:"
run_confined --json || broken=1
exit "$broken"
