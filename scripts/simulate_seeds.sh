#!/usr/bin/env bash
# The simulation of the actors under chance, with many seeds: prints each seed that fails, and how to run
# it again. Exit status 1 if there is one.
#   scripts/simulate_seeds.sh [COUNT] [FIRST]    100,000 from 1 on; BUILD=DIR (build), JOBS=N (all cores)
set -euo pipefail
. "$(dirname "$0")/common.sh"

case ${1:-} in
  -h | --help) sed -n '2,4s/^# \{0,1\}//p' "$0"; exit 0 ;;
esac
count=${1:-100000}
first=${2:-1}
program=$root/${BUILD:-build}/bin/simulation_test
[[ $count =~ ^[1-9][0-9]*$ && $first =~ ^[0-9]+$ ]] || die "expected two numbers, got: $*"
[[ -x $program ]] || die "$program is missing: build the target simulation_test"

chunk=1000
found=$(mktemp -d)
trap 'rm -rf "$found"' EXIT

# One process for a thousand seeds: a crash costs no more than the rest of these.
run() {
  local from=$1 many=$2 log=$found/$1
  "$program" --first "$from" --count "$many" >"$log" 2>&1 && rm "$log" && return
  grep -h '^seed [0-9]* failed' "$log" || { echo "seeds from $from on: ended without a result:"; tail -5 "$log"; }
}
export -f run
export program found

begin=$SECONDS
for ((at = first; at < first + count; at += chunk)); do
  left=$((first + count - at))
  echo "$at $((left < chunk ? left : chunk))"
done | xargs -P "${JOBS:-$(nproc)}" -L 1 bash -c 'run "$1" "$2"' run
failed=$(find "$found" -type f | wc -l)
echo "$count seeds from $first on in $((SECONDS - begin)) s: $([[ $failed == 0 ]] && echo "all hold" || echo "not all hold")"
[[ $failed == 0 ]]
