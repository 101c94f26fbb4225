#!/usr/bin/env bash
# Tests the Python client with the project's environment: run.sh ROOT ECHO_SERVER. Skipped (77) where
# scripts/venv.sh has not made that.
set -euo pipefail
root=$1
export TROUPE_ECHO_SERVER=$2
python=$root/.venv/bin/python
if ! [ -x "$python" ]; then
  echo "skipped: $python is missing; run scripts/venv.sh"
  exit 77
fi
export PYTHONPATH=$root/clients/python PYTHONDONTWRITEBYTECODE=1
exec "$python" -m pytest -q -p no:cacheprovider "$(dirname "$0")"
