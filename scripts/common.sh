# Sourced by the other scripts: where the tree is, and how progress and failure are told.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=$root/.cache
jobs=$(nproc)

# step TEXT…: one line of progress, with the seconds since the first script of the run began.
export TROUPE_STEP_ZERO=${TROUPE_STEP_ZERO:-$(date +%s)}
step() { printf '== %4ds  %s\n' "$(($(date +%s) - TROUPE_STEP_ZERO))" "$*"; }

# die TEXT…: one line on stderr, exit status 1.
die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# quietly COMMAND…: keeps the output in a file and shows its end only when the command fails.
quietly() {
  mkdir -p "$cache"
  local log
  log=$(mktemp "$cache/log.XXXXXX")
  if "$@" >"$log" 2>&1; then
    rm -f "$log"
  else
    local status=$?
    tail -n 60 "$log" >&2
    printf '%s: failed with status %d: %s\n(the whole output is in %s)\n' \
      "$(basename "$0")" "$status" "$*" "$log" >&2
    return "$status"
  fi
}

# build TREE TARGET…: builds, with Ninja's own progress on a terminal and quietly elsewhere.
build() {
  local command=(cmake --build "$root/$1" -j "$jobs" --target "${@:2}")
  if [ -t 1 ]; then "${command[@]}"; else quietly "${command[@]}"; fi
}
