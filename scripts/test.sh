#!/usr/bin/env bash
# Everything that has to hold, from a fresh clone: installs what is missing, builds, and runs the unit
# tests, the end-to-end tests and the checks (sanitizers, fuzzers, install tree, format, includes, lint)
# as one ctest run.
#   scripts/test.sh            all of it: up to an hour on two cores from scratch, minutes with a compiler cache
#   scripts/test.sh --quick    without the sanitizers, fuzzers and lint
set -euo pipefail
. "$(dirname "$0")/common.sh"

checks=ON
case ${1:-} in
  "") ;;
  --quick) checks=OFF ;;
  *) sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

cd "$root"
scripts/install_deps.sh test
scripts/venv.sh
scripts/fetch_models.sh
step "models for tests and benchmarks"
quietly .venv/bin/python scripts/make_models.py build/models
step "configuring"
quietly cmake --preset release -DTROUPE_CHECKS=$checks
step "building"
build build all
step "testing"
rm -f build/e2e-report.txt
ctest --test-dir build --output-on-failure --no-label-summary -j "$jobs"
