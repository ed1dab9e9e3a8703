#!/bin/sh
# The only service of a systemd that has nothing else to do (tests/vm/run.sh): limits in the cgroups
# that it gives away, to root and to an ordinary user.
export PATH=/bin:/usr/bin
exec >/dev/console 2>&1
. /report.sh

# as_root WORD...: a command in the checkout of root.
as_root() {
  (cd /srv/root && HOME=/root timeout 100 "$@") >$record 2>$record.err </dev/null
}

# as_user TEXT: a command in a service of the user's own manager. (`systemd-run --wait` would need a bus.)
as_user() {
  rm -f /tmp/job.out /tmp/job.err
  printf '%s\n' 'exec >/tmp/job.out 2>/tmp/job.err' 'cd /srv/user || exit' "exec $1" >/tmp/job
  timeout 100 /usr/bin/setpriv --reuid 1000 --regid 1000 --clear-groups \
    env -i PATH=$PATH XDG_RUNTIME_DIR=/run/user/1000 systemctl --user start job.service
  cat /tmp/job.out >$record
  cat /tmp/job.err >$record.err
}

bomb="-- sh -c 'b() { b | b & }; b; sleep 60'"

where="systemd's root"
as_root pinfold run --json --memory 256MiB --processes 50 -- true
says "a service that was given nothing has the watch" '"ended":"exited"' '"held":"partial"' 'was not delegated to us'
as_root systemd-run --quiet --scope -p Delegate=yes pinfold run --json --memory 256MiB --processes 50 -- true
says "a delegated scope holds its limits" '"ended":"exited"' 'the kernel bounds it, without swap, in the cgroup' \
  'the kernel bounds them in the cgroup'
as_root systemd-run --quiet --scope pinfold run --json --memory 256MiB --processes 50 -- true
says "one that is not delegated has the watch" '"ended":"exited"' 'was not delegated to us'
eval "as_root systemd-run --quiet --scope -p Delegate=yes pinfold run --json --timeout 60s --processes 50 $bomb"
says "a bomb ends as limited" '"ended":"limited"' '"limit":"processes"' 'the kernel bounds them in the cgroup'
nothing_is_left "nothing is left"

where="systemd's user"
mkdir -p /run/user/1000
chown 1000:1000 /run/user/1000
systemctl start user@1000.service
as_user "pinfold run --json --memory 256MiB --processes 50 -- true"
says "a service that was given nothing has the watch" '"ended":"exited"' '"held":"partial"' 'was not delegated to us'
as_user "systemd-run --user --quiet --scope -p Delegate=yes pinfold run --json --memory 256MiB -- true"
says "its manager does not mark what it gives away: the watch" '"ended":"exited"' 'was not delegated to us'
# Who asked for the delegation says so (SECURITY.md).
cat >/tmp/in_scope <<'TEXT'
setfattr -n user.delegate -v 1 "/sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)" && exec "$@"
TEXT
scope="systemd-run --user --quiet --scope -p Delegate=yes sh /tmp/in_scope pinfold"
as_user "$scope run --json --memory 256MiB --processes 50 -- true"
says "a delegated scope holds its limits" '"ended":"exited"' 'the kernel bounds it, without swap, in the cgroup' \
  'the kernel bounds them in the cgroup'
as_user "$scope run --json --timeout 60s --processes 50 $bomb"
says "a bomb ends as limited" '"ended":"limited"' '"limit":"processes"' 'the kernel bounds them in the cgroup'
as_user "$scope run --json --memory 48MiB -- dd if=/dev/zero of=/tmp/x bs=1M count=200"
says "a full scratch place ends as limited" '"ended":"limited"' '"limit":"memory"'
as_user "$scope doctor"
says "doctor says what holds limits" 'the kernel bounds memory and processes of a run, in a cgroup such as'
nothing_is_left "nothing is left"

echo "END $(uname -r), systemd $(systemctl --version | sed -n '1s/[^(]*(\(.*\))/\1/p')"
sync
poweroff -f
