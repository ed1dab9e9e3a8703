#!/usr/bin/env bash
# Makes the Debian packages and tries them: what is in them, lintian, and an installation in a clean
# root made by debootstrap, which is entered as a container is (namespaces, pivot_root).
#   tests/package.sh [BUILD]          all of it, of that build or one of its own; needs root
#   tests/package.sh contents BUILD   without the clean root (in the ordinary test run)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() { echo "package.sh: $*" >&2; exit 1; }

# has DEB PATTERN...: each pattern names a file in it.
has() {
  local contents pattern
  contents=$(dpkg-deb --contents "$1" | awk '{print $6}')
  for pattern in "${@:2}"; do grep -qxE "\./$pattern" <<<"$contents" || fail "$1 lacks $pattern"; done
}

# pack BUILD: the packages of that build, into BUILD/packages.
pack() {
  rm -rf "$1/packages"
  cpack --config "$1/CPackConfig.cmake" -G DEB -B "$1/packages" >"$1/cpack.log" 2>&1 ||
    { tail -n 20 "$1/cpack.log" >&2; fail "cpack"; }
  program=$(echo "$1"/packages/pinfold_*.deb)
  development=$(echo "$1"/packages/libpinfold-dev_*.deb)
}

# What must be in them, what they ask for, and that lintian finds no error.
look_at_packages() {
  local wanted
  has "$program" usr/bin/pinfold usr/share/man/man1/pinfold.1.gz usr/share/man/man1/pinfold-run.1.gz \
    usr/share/bash-completion/completions/pinfold 'usr/share/zsh/[a-z]+-[a-z]+/_pinfold' \
    usr/share/fish/vendor_completions.d/pinfold.fish usr/share/doc/pinfold/copyright
  has "$development" usr/include/pinfold/pinfold.hpp 'usr/lib/([^/]+/)?libpinfold_runner.a' \
    'usr/lib/([^/]+/)?cmake/pinfold/pinfold-config.cmake' \
    'usr/lib/([^/]+/)?pkgconfig/pinfold-policy.pc' usr/share/doc/libpinfold-dev/copyright
  for wanted in "$program bubblewrap" "$development librange-v3-dev" \
    "$development libboost-filesystem-dev"; do
    dpkg-deb --field "${wanted% *}" Depends | grep -q "${wanted#* } (>= " ||
      fail "no dependency: $wanted"
  done
  if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error --tag-display-limit 0 "$program" "$development" ||
      fail "lintian found an error"
  fi
}

if [ "${1:-}" = contents ]; then
  pack "$2"
  look_at_packages
  exit
fi

. runner/setup.sh
need "${packages_build[@]}" "${packages_test[@]}" "${packages_package[@]}"
[ "$(id -u)" -eq 0 ] || fail "only root can make a clean root"
if [ $# -eq 0 ]; then build package; fi
pack "${1:-build/package}"
[ $# -gt 0 ] || has "$program" usr/share/zsh/vendor-completions/_pinfold  # where Debian's zsh looks
echo "lintian:"
look_at_packages

# The clean root lies beside the build; nothing of it is mounted when this ends, however it ends.
root=$PWD/build/package-root
rm -rf "$root"
. /etc/os-release
mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
  awk -v suite="$VERSION_CODENAME" '$2 == suite { print $1; exit }')
echo "A clean $VERSION_CODENAME in $root"
debootstrap --variant=minbase "$VERSION_CODENAME" "$root" "$mirror" >build/debootstrap.log 2>&1 ||
  { tail -n 20 build/debootstrap.log >&2; fail "debootstrap"; }
cp /etc/apt/apt.conf.d/* "$root/etc/apt/apt.conf.d/"
mkdir -p "$root/packages" "$root/work" "$root/old"
cp "$program" "$development" "$root/packages/"

# enter WORD...: runs it inside, as root, in namespaces of its own.
enter() {
  unshare -mpf --kill-child bash -euc '
    mount --bind "$1" "$1"
    cd "$1"
    mount -t proc none proc
    mount --rbind /dev dev
    mount -t tmpfs -o mode=1777 none tmp
    pivot_root . old
    cd /
    umount -l /old
    export HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive
    exec "${@:2}"' bash "$root" "$@"
}
enter apt-get update -qq
enter apt-get install -y -qq --no-install-recommends "/packages/${program##*/}" >build/install.log 2>&1 ||
  { tail -n 20 build/install.log >&2; fail "apt-get install pinfold"; }
enter useradd -m somebody
mkdir -p "$root/work/ours" "$root/work/theirs"
chown "$(awk -F: '$1 == "somebody" { print $3 ":" $4 }' "$root/etc/passwd")" "$root/work/theirs"
as_somebody=(setpriv --reuid=somebody --regid=somebody --clear-groups env HOME=/home/somebody)

[ "$(enter pinfold --version)" = "pinfold $(dpkg-deb --field "$program" Version | sed 's/-.*//')" ] ||
  fail "another version"
for place in ours theirs; do  # root without capabilities cannot write in what is somebody else's
  user="" && [ $place = ours ] || user="${as_somebody[*]}"
  enter $user pinfold doctor >build/doctor.log || { cat build/doctor.log >&2; fail "doctor"; }
  said=$(enter $user pinfold run --workspace /work/$place --no-cache -- sh -c 'echo inside; touch /etc/x 2>&1' || true)
  [[ $said == inside*"Read-only file system"* ]] || fail "run: $said"
done

# Another program, from what libpinfold-dev brings and nothing of this tree.
enter apt-get install -y -qq --no-install-recommends g++ pkg-config "/packages/${development##*/}" \
  >build/install.log 2>&1 || { tail -n 20 build/install.log >&2; fail "apt-get install libpinfold-dev"; }
python3 -B tests/embed/readme.py README.md "$root/work" engine.cpp command.cpp started.cpp mine.cpp
for one in "engine pinfold-engine" "command pinfold-runner"; do
  enter sh -ec "cd /work && g++ -std=c++23 ${one% *}.cpp \$(pkg-config --cflags --libs ${one#* }) -o ${one% *}"
done
enter /work/engine /work engine.cpp | grep -q "engine.cpp is open" || fail "engine"
enter /work/command /work/ours | grep -q "rm: cannot remove" || fail "command"

enter apt-get purge -y -qq pinfold libpinfold-dev >/dev/null 2>&1 || fail "purge"
left=$(find "$root/usr" "$root/etc" -name '*pinfold*' -not -path '*/doc/*')
[ -z "$left" ] || fail "left behind: $left"
rm -rf "$root"
echo "package.sh: all as promised"
