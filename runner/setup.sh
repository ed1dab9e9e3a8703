# Sourced by runner/quickstart.sh, tests/run.sh and fuzz/run.sh: which packages are needed, and how to
# get the ones that are missing. It says what it installs before it does, and removes or changes
# nothing else.

packages_build=(g++ cmake ninja-build libboost-filesystem-dev libcli11-dev libre2-dev
                librange-v3-dev libseccomp-dev musl-dev nlohmann-json3-dev)
packages_run=(bubblewrap git)
packages_test=(catch2 ccache curl doxygen fish gdb groff-base make man-db openssl pkg-config procps python3
               netcat-openbsd openssh-client python3-requests strace wget zsh)
# Programs that many have by another way than Debian's packages, which then cannot be installed.
programs_test=(node:nodejs npm:npm)
packages_bench=(libbenchmark-dev gnuplot-nox python3)
packages_peers=(bubblewrap python3 ripgrep socat)
packages_fuzz=(clang-19 libclang-rt-19-dev llvm-19)
packages_tidy=(clang-19 clang-format-19 clang-tidy-19)
packages_package=(debootstrap dpkg-dev file lintian)

is_installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# need PACKAGE...: installs the ones that are missing. Nothing missing: no network, no sudo.
need() {
  local package missing=() as_root=()
  if ! command -v apt-get >/dev/null; then
    echo "This script installs with apt-get, which is not here. Needed (Debian names): $*" >&2
    return 1
  fi
  for package in "$@"; do is_installed "$package" || missing+=("$package"); done
  [ ${#missing[@]} -gt 0 ] || return 0
  echo "Missing, so installed now with apt-get: ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "You are not root and sudo is not here. As root: apt-get install ${missing[*]}" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# need_programs PROGRAM:PACKAGE...: the same for programs that are taken from wherever they came.
need_programs() {
  local pair packages=()
  for pair in "$@"; do
    PATH=/bin:/usr/bin command -v "${pair%:*}" >/dev/null || packages+=("${pair#*:}")
  done
  [ ${#packages[@]} -eq 0 ] || need "${packages[@]}"
}

# build PRESET: configures and builds in build/PRESET, with ccache where it is there. What the tools
# print is kept beside it and shown only when they fail.
build() {
  local launcher=() log="build/$1.log"
  if command -v ccache >/dev/null; then
    launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
    export CCACHE_SLOPPINESS=pch_defines,time_macros  # or it keeps nothing that read a precompiled header
    export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1   # another clone finds what this one compiled
  fi
  mkdir -p build
  echo "Building in build/$1"
  if cmake --preset "$1" "${launcher[@]}" >"$log" 2>&1 &&
    cmake --build --preset "$1" -j "$(nproc)" >>"$log" 2>&1; then
    return 0
  fi
  echo "The build failed; its last lines (all of it is in $log):" >&2
  tail -n 60 "$log" >&2
  return 1
}
