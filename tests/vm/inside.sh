#!/bin/sh
# PID 1 of the virtual machine that tests/vm/run.sh boots: limits that a cgroup holds, attacked. Here a
# fork bomb may double itself, as root too. Nothing of it is for a machine that anybody needs.
export PATH=/bin:/usr/bin

mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /dev/pts
mount -t tmpfs shm /dev/shm
mount -t cgroup2 cgroup2 /sys/fs/cgroup
echo "+memory +pids" >/sys/fs/cgroup/cgroup.subtree_control

. /report.sh

# run ARG...: pinfold in a process of its own, in the cgroup $seat (as the kernel's root user, who alone
# may put somebody there), as $user, in that user's checkout.
run() {
  (
    echo 0 >$cg/$seat/cgroup.procs
    cd "$checkout" || exit 1
    exec timeout 100 /usr/bin/setpriv --reuid "$user" --regid "$user" --clear-groups \
      env -i PATH=/bin:/usr/bin HOME="$home" pinfold "$@"
  ) >$record 2>$record.err </dev/null
}

# As `run`, with nobody else in the cgroup: pinfold takes the place of the shell.
alone() {
  (
    cd "$checkout" || exit 1
    exec sh -c 'echo $$ >$0/cgroup.procs && exec /usr/bin/setpriv --reuid $1 --regid $1 --clear-groups \
      env -i PATH=/bin:/usr/bin HOME="$2" pinfold $3' "$cg/$seat" "$user" "$home" "$*"
  ) >$record 2>$record.err </dev/null
}

holds_its_limits() {
  run run --json --memory 256MiB --processes 50 -- sh -c 'echo hello; ls /proc/self/fd'
  says "an ordinary command runs under hard limits" '"ended":"exited"' '"exit_code":0' hello \
    'the kernel bounds it, without swap, in the cgroup' 'the kernel bounds them in the cgroup'
  nothing_is_left "nothing is left of it"

  before=$(tasks)
  run run --json --timeout 60s --processes 50 -- sh -c 'b() { b | b & }; b; sleep 60'
  says "a bomb that doubles itself ends as limited" '"ended":"limited"' '"limit":"processes"'
  run run --json --timeout 60s --processes 300 -- sh -c 'b() { b | b & b; }; b'
  says "so does one that never waits" '"ended":"limited"' '"limit":"processes"'
  run run --json --timeout 60s --processes 20 -- sh -c 'while :; do sleep 100 & done'
  says "and one that counts up" '"ended":"limited"' '"limit":"processes"'
  sleep 1
  if [ "$(tasks)" -le $((before + 8)) ]; then pass "no process of them is left"; else fail "$(tasks) processes are left, $before before"; fi
  nothing_is_left "nor a cgroup"
  run run --json --processes 20 -- sh -c 'for i in 1 2 3 4 5 6 7 8 9; do sleep 0.2 & done; wait; echo done'
  says "what stays below is left alone" '"ended":"exited"' '"exit_code":0' done

  run run --json --timeout 60s --memory 48MiB -- awk 'BEGIN { s = "x"; while (1) s = s s }'
  says "a hog of memory ends as limited" '"ended":"limited"' '"limit":"memory"'
  run run --json --timeout 60s --memory 48MiB -- sh -c 'for i in 1 2 3 4; do awk "BEGIN { s = sprintf(\"%20000000s\", \"\"); while (1); }" & done; wait'
  says "so do many small ones" '"ended":"limited"' '"limit":"memory"'
  run run --json --timeout 60s --memory 48MiB -- dd if=/dev/zero of=/tmp/x bs=1M count=200
  says "and a full scratch place" '"ended":"limited"' '"limit":"memory"'
  run run --json --memory 48MiB -- dd if=/dev/zero of=/tmp/x bs=1M count=16
  says "what stays below is left alone" '"ended":"exited"' '"exit_code":0'
  nothing_is_left "nothing is left of any"

  run run --memory 64MiB --processes 50 -- sh -c 'seen=0; wrote=0
    for f in $(find /sys/fs/cgroup /proc/self/root/sys/fs/cgroup/ -maxdepth 5 -type f); do
      case $f in */memory.max | */memory.high | */pids.max | */cgroup.procs | */cgroup.subtree_control | */cgroup.kill | */cgroup.threads) ;; *) continue ;; esac
      seen=$((seen + 1))
      for word in max 0 $$ -pids; do (echo $word >$f) 2>/dev/null && { wrote=$((wrote + 1)); echo "WROTE $f"; }; done
    done
    for d in $(find /sys/fs/cgroup -type d); do mkdir $d/mine 2>/dev/null && echo "MADE $d"; done
    mount -t cgroup2 none /tmp 2>/dev/null && echo MOUNTED
    unshare -UrmC mount -t cgroup2 none /tmp 2>/dev/null && echo MOUNTED
    [ $seen -gt 5 ] && echo "saw many, wrote $wrote"'
  says "no command changes what bounds it" "saw many, wrote 0"
  if grep -qE 'WROTE|MADE|MOUNTED' $record; then fail "a command changed a cgroup"; else pass "nor makes one"; fi
  run run --memory 64MiB --processes 50 -- cat /proc/self/cgroup
  says "it sits in a cgroup within the one with its limits" /inside

  run doctor
  says "doctor says what holds limits" 'the kernel bounds memory and processes of a run, in a cgroup such as'
  run explain --memory 64MiB -- true
  says "so does explain" 'the kernel, in a cgroup below'
  nothing_is_left "both leave nothing"
}

# The runner killed while its command runs: everything inside dies, and the next run clears away what
# it left.
survives_a_killed_runner() {
  rm -f "$checkout/started"
  run run --memory 64MiB --processes 50 -- sh -c 'sleep 1000 & touch started; sleep 1000' &
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do [ -e "$checkout/started" ] || sleep 0.5; done
  kill -9 $(pidof pinfold)
  wait
  for _ in 1 2 3 4 5 6 7 8 9 10; do pidof sleep >/dev/null && sleep 0.5; done
  if pidof sleep bwrap pinfold-stage; then fail "processes are left of a killed runner"; else pass "no process is left of a killed runner"; fi
  if [ -n "$(left)" ]; then pass "its cgroup is, and it is empty"; else fail "its cgroup is not there"; fi
  for one in $(left); do grep -q 'populated 0' $one/cgroup.events || fail "$one is not empty"; done
  run run --processes 50 -- true
  nothing_is_left "the next run removes it"
}

makes_room() {
  alone run --json --memory 256MiB --processes 50 -- true
  says "alone in its cgroup it makes room for itself" '"ended":"exited"' \
    'the kernel bounds it, without swap, in the cgroup' 'the kernel bounds them in the cgroup'
  nothing_is_left "and takes it back"
  if [ -z "$(cat $cg/$seat/cgroup.subtree_control)" ]; then pass "with the controllers"; else fail "controllers are left"; fi
  alone run --json --memory 48MiB -- dd if=/dev/zero of=/tmp/x bs=1M count=200
  says "a limit binds there too" '"ended":"limited"' '"limit":"memory"'
  alone doctor
  says "doctor makes room as well" 'the kernel bounds memory and processes of a run, in a cgroup such as'
  sh -c 'echo $$ >$0/cgroup.procs; exec sleep 100' $cg/$seat &
  other=$!
  sleep 1
  alone run --json --memory 48MiB --processes 50 -- true
  says "beside another process it does not, and says so" '"held":"partial"' 'other processes sit in'
  alone run --json --memory 48MiB -- dd if=/dev/zero of=/tmp/x bs=1M count=200
  says "then the watch holds the limit" '"ended":"limited"' '"limit":"memory"'
  kill $other
  wait $other 2>/dev/null
  if [ -z "$(cat $cg/$seat/cgroup.procs)" ]; then pass "nobody else was moved"; else fail "somebody sits in $seat"; fi
}

# give DIRECTORY: to $user, as a delegation does (cgroups(7)).
give() { chown "$user:$user" "$1" "$1/cgroup.procs" "$1/cgroup.subtree_control" "$1/cgroup.threads"; }

for user in 0 1000; do
  if [ $user -eq 0 ]; then home=/root; checkout=/srv/root; else home=/home/user; checkout=/srv/user; fi
  mkdir -p $checkout/.efferent $checkout/.foundry
  chown -R $user:$user $checkout $home
  mkdir -p $cg/unit-$user/harness $cg/seat-$user
  give $cg/unit-$user
  give $cg/unit-$user/harness
  give $cg/seat-$user
  setfattr -n user.delegate -v 1 $cg/unit-$user

  where="uid $user, in a leaf of a delegated cgroup"
  seat=unit-$user/harness
  holds_its_limits
  survives_a_killed_runner
  where="uid $user, alone in its cgroup"
  seat=seat-$user
  makes_room
done

where="uid 0, in the root of all"
user=0 home=/root checkout=/srv/root seat=.
run run --json --processes 50 -- sh -c 'b() { b | b & }; b; sleep 60'
says "a bomb ends as limited" '"ended":"limited"' '"limit":"processes"' 'the kernel bounds them in the cgroup'
nothing_is_left "nothing is left of it"
where="uid 0, where systemd runs and gave nothing away"
mkdir -p /run/systemd/system
run run --json --processes 50 -- true
says "it takes nothing" '"ended":"exited"' 'was not delegated to us'
rmdir /run/systemd/system /run/systemd
exec env -i PATH=$PATH /lib/systemd/systemd --unit=pinfold.service
