#!/usr/bin/env bash
# Formats every C++ file of the tree with the .clang-format at its root.
#   scripts/format.sh           rewrites files in place
#   scripts/format.sh --check   changes nothing, lists what differs, exit status 1 if anything does
set -euo pipefail
. "$(dirname "$0")/common.sh"

formatter=$(command -v clang-format-14 || true)
[ -n "$formatter" ] || die "clang-format-14 is missing; run scripts/install_deps.sh test"

cd "$root"
case ${1:-} in
  "") flags=(-i) ;;
  --check) flags=(--dry-run -Werror --ferror-limit=1) ;;
  *) sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
find kernels runtime protocol actors apps clients tests bench examples \
  \( -name '*.cpp' -o -name '*.hpp' \) -print0 2>/dev/null |
  xargs -0 -r -P "$jobs" -n 40 "$formatter" "${flags[@]}"
