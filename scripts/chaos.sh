#!/usr/bin/env bash
# Two minutes of mixed load on a server whose actors are killed twice a second: exits with 0 if every
# request was answered exactly once, the rate was back within a second of each death and the server
# ended cleanly. Takes a built tree and its models. Further arguments go to tests/e2e/chaos.py.
set -euo pipefail
. "$(dirname "$0")/common.sh"

cd "$root"
build build chaos_server
PYTHONPATH=tests/e2e .venv/bin/python tests/e2e/chaos.py --seconds 120 "$@"
