#!/usr/bin/env bash
# write.sh ROOT DIRECTORY: writes the node tests of the onnx package, or exits with 77 where it is missing.
set -euo pipefail
python=${TROUPE_PYTHON:-$1/.venv/bin/python}
if ! "$python" -c 'import onnx' 2>/dev/null; then
  echo "skipped: $python has no onnx; scripts/venv.sh makes it"
  exit 77
fi
exec "$python" "$1/scripts/write_node_tests.py" "$2"
