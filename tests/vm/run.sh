#!/usr/bin/env bash
# Limits held by a real kernel: boots Debian's cloud kernel in qemu (software emulation) with cgroup v2
# and its controllers, and runs tests/vm/inside.sh there as PID 1, then systemd.sh under systemd. Apart from
# the ordinary tests; installs what it needs. Prints PASS and FAIL lines; the exit code is 0 only when there was no FAIL
# and the last line came. `tests/vm/run.sh PINFOLD` takes that (static) executable.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. runner/setup.sh
need "${packages_build[@]}" "${packages_run[@]}" attr busybox-static cpio qemu-system-x86 systemd util-linux
pinfold=${1:-}
if [ -z "$pinfold" ]; then
  build release
  pinfold=$PWD/build/release/runner/pinfold
fi
most_seconds=600
work=$PWD/build/vm
root=$work/root
mkdir -p "$work/kernel"

# The kernel of the package that Debian's own name for it leads to, kept for the next time.
fetch_kernel() {
  local package
  package=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
  kernel=$work/kernel/boot/vmlinuz-${package#linux-image-}
  [ -e "$kernel" ] && return
  echo "Fetching $package"
  (cd "$work" && rm -f linux-image-*.deb && apt-get download -qq "$package" 2>/dev/null)
  dpkg-deb --fsys-tarfile "$work"/linux-image-*.deb | tar -x -C "$work/kernel" ./boot
  rm -f "$work"/linux-image-*.deb
}

# A program at its own path, and the libraries that it is linked with.
put_program() {
  local file
  for file in "$1" $(ldd "$1" 2>/dev/null | grep -o '/[^ ]*'); do
    install -D -m 755 "$(realpath "$file")" "$root$file"
  done
}

# systemd with next to nothing to start: one service, and a manager for the ordinary user.
put_systemd() {
  local unit
  for unit in /lib/systemd/systemd "$(command -v systemd-run)" "$(command -v systemctl)"; do put_program "$unit"; done
  mkdir -p "$root"/etc/systemd/{system,user}
  for unit in {system,user}/{basic,sysinit,shutdown}.target user/default.target; do
    printf '[Unit]\nDefaultDependencies=no\n' >"$root/etc/systemd/$unit"
  done
  printf '%s\n' '[Unit]' DefaultDependencies=no '[Service]' Type=oneshot 'ExecStart=/bin/sh /systemd.sh' \
    TimeoutStartSec=infinity >"$root/etc/systemd/system/pinfold.service"
  printf '%s\n' '[Unit]' DefaultDependencies=no '[Service]' Type=notify User=1000 'Delegate=pids memory' \
    'Environment=XDG_RUNTIME_DIR=/run/user/1000 HOME=/home/user' \
    'ExecStart=/lib/systemd/systemd --user' >"$root/etc/systemd/system/user@1000.service"
  printf '%s\n' '[Unit]' DefaultDependencies=no '[Service]' Type=oneshot 'ExecStart=-/bin/sh /tmp/job' \
    'Environment=PATH=/bin:/usr/bin HOME=/home/user' >"$root/etc/systemd/user/job.service"
}

make_root() {
  rm -rf "$root"
  mkdir -p "$root"/{bin,dev,etc,home/user,proc,root,run,srv,sys,tmp,usr/bin,var/tmp}
  chmod 1777 "$root"/{tmp,var/tmp}
  cp /bin/busybox "$root/bin/busybox"
  for name in $(busybox --list); do [ -e "$root/bin/$name" ] || ln -s busybox "$root/bin/$name"; done
  put_program "$(command -v bwrap)"
  put_program "$(command -v setfattr)"
  put_program /usr/bin/setpriv
  install -m 755 "$pinfold" "$root/usr/bin/pinfold"
  printf 'root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n' >"$root/etc/passwd"
  printf 'root:x:0:\nuser:x:1000:\n' >"$root/etc/group"
  install -m 755 tests/vm/inside.sh tests/vm/systemd.sh tests/vm/report.sh "$root"
  put_systemd
  # bwrap cannot pivot away from an initial root file system: everything moves to another first.
  printf '%s\n' '#!/bin/busybox sh' '/bin/busybox mkdir /new' '/bin/busybox mount -t tmpfs -o mode=755 root /new' \
    'for name in /*; do case $name in /new) ;; *) /bin/busybox cp -a $name /new/ ;; esac; done' \
    'exec /bin/busybox switch_root /new /inside.sh' >"$root/init"
  chmod 755 "$root/init"
  (cd "$root" && find . | cpio --quiet -o -H newc -R +0:+0 | gzip -1) >"$work/initrd.gz"
}

fetch_kernel
make_root
boot() {
  timeout "$most_seconds" qemu-system-x86_64 -accel tcg -cpu max -smp 2 -m 1024 \
    -display none -serial stdio -monitor none -no-reboot -nic none \
    -kernel "$kernel" -initrd "$work/initrd.gz" \
    -append "console=ttyS0 loglevel=1 panic=-1 systemd.show_status=false" </dev/null 2>"$work/qemu.log" |
    tr -d '\r' | tee "$work/console.log" | grep -E --line-buffered '^(PASS|FAIL|  |END)' || true
}

# On a busy machine an emulated timer may come too late for the kernel to believe in it.
for attempt in 1 2 3; do
  echo "Booting $(basename "$kernel")"
  boot
  if grep -qE '^(PASS|FAIL|END)' "$work/console.log" || [ "$SECONDS" -gt "$most_seconds" ]; then break; fi
done
passed=$(grep -c '^PASS' "$work/console.log" || true)
failed=$(grep -c '^FAIL' "$work/console.log" || true)
ended=$(grep -c '^END' "$work/console.log" || true)
echo "$(basename "$kernel"): $passed passed, $failed failed"
if [ "$ended" -ne 1 ]; then
  echo "It did not come to its end within $most_seconds seconds; the last lines of $work/console.log:" >&2
  tail -n 20 "$work/console.log" "$work/qemu.log" >&2
fi
[ "$ended" -eq 1 ] && [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
