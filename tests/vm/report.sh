# Sourced by tests/vm/inside.sh and systemd.sh: what they say of each promise.
cg=/sys/fs/cgroup
record=/tmp/record

pass() { echo "PASS $where: $1"; }
fail() {
  echo "FAIL $where: $1"
  sed 's/^/  /; s/"enforced":.*"core_dumps"/... "core_dumps"/' $record $record.err 2>/dev/null | cut -c 1-3000
}

# says NAME TEXT...: what the last run wrote holds every text.
says() {
  name=$1
  shift
  for text in "$@"; do grep -qF -e "$text" $record $record.err || { fail "$name (not said: $text)"; return; }; done
  pass "$name"
}

left() { find $cg -type d -name 'pinfold-*'; }
nothing_is_left() { if [ -z "$(left)" ]; then pass "$1"; else fail "$1: $(left)"; fi; }
tasks() { ls -d /proc/[0-9]* | wc -l; }
