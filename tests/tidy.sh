#!/usr/bin/env bash
# The style of what changed since BASE (a commit; by default where this branch left main), uncommitted
# work included: changed lines as clang-format has them, and no finding of clang-tidy in a changed file.
#   tests/tidy.sh [BASE]
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
. runner/setup.sh
need "${packages_build[@]}" "${packages_test[@]}" "${packages_bench[@]}" "${packages_tidy[@]}" || exit 1
base=$(git merge-base "${1:-main}" HEAD) || exit 1

mapfile -t changed < <(
  {
    git diff --name-only --diff-filter=d "$base"
    git ls-files --others --exclude-standard
  } | grep -E '\.(cpp|hpp)$' | sort -u
)
if [ ${#changed[@]} -eq 0 ]; then
  echo "No C++ file changed since $base."
  exit 0
fi

# A file that git does not know yet has no old lines, so all of it counts.
failed=0
echo "clang-format: ${#changed[@]} files changed since $base"
git-clang-format-19 --binary clang-format-19 --quiet --diff "$base" -- "${changed[@]}" >build/format.diff || failed=1
mapfile -t unknown < <(git ls-files --others --exclude-standard -- "${changed[@]}")
[ ${#unknown[@]} -eq 0 ] || clang-format-19 --dry-run -Werror "${unknown[@]}" || failed=1
[ ! -s build/format.diff ] || { cat build/format.diff; failed=1; }

# A header is read through the generated source that includes it alone, others through their own.
mkdir -p build
cmake --preset tidy >build/tidy.log 2>&1 || { tail -n 40 build/tidy.log >&2; exit 1; }
sources=() headers=()
for file in "${changed[@]}"; do
  case $file in
    include/*.hpp) sources+=("build/tidy/tests/layering/every_header_alone/$(tr / . <<<"${file#include/}").cpp") ;;
    runner/*.hpp) sources+=("build/tidy/tests/layering/every_runner_header_alone/$(tr / . <<<"${file#runner/}").cpp") ;;
    *.cpp) sources+=("$file") ;;
  esac
  headers+=("$file")
done
# What no target compiles (the programs that must not compile, examples) has no flags to read it with.
known=()
for file in "${sources[@]}"; do
  if grep -qF "\"file\": \"$PWD/$file\"" build/tidy/compile_commands.json; then
    known+=("$file")
  else
    echo "clang-tidy: no target compiles $file"
  fi
done
echo "clang-tidy: ${#known[@]} sources"
filter="($(IFS='|'; echo "${headers[*]//./\\.}"))$"
printf '%s\0' "${known[@]}" |
  xargs -0 -r -n 1 -P "$(nproc)" clang-tidy-19 -p build/tidy --quiet --header-filter="$filter" 2>build/tidy.err ||
  failed=1
exit "$failed"
