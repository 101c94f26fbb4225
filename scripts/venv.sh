#!/usr/bin/env bash
# Makes the Python environment of scripts, clients and tests in .venv/, and refreshes it when the
# pinned versions change.
#   scripts/venv.sh          what scripts and tests need
#   scripts/venv.sh bench    and the peers that bench/ compares with
set -euo pipefail
. "$(dirname "$0")/common.sh"

command -v python3 >/dev/null || die "python3 is missing; run scripts/install_deps.sh first"
lists=("$root/scripts/requirements.txt")
case ${1:-} in
  "") ;;
  bench) lists+=("$root/scripts/requirements-bench.txt") ;;
  *) sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

for list in "${lists[@]}"; do
  stamp=$root/.venv/$(basename "$list").sha256
  [ -x "$root/.venv/bin/python" ] && sha256sum --status -c "$stamp" 2>/dev/null && continue
  step "Python packages of $(basename "$list")"
  [ -x "$root/.venv/bin/python" ] || quietly python3 -m venv "$root/.venv"
  quietly "$root/.venv/bin/pip" install --no-deps --disable-pip-version-check -r "$list"
  sha256sum "$list" >"$stamp"
done
