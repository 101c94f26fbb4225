#!/usr/bin/env bash
# run.sh TROUPE REPOSITORY: runs the test, or exits with 77 where something is missing.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
python=${TROUPE_PYTHON:-$here/../../../.venv/bin/python}
if ! "$python" -c 'import numpy, onnx' 2>/dev/null; then
  echo "skipped: $python has no numpy and onnx; scripts/venv.sh makes it"
  exit 77
fi
if [ ! -f "$2/tiny_conv/1/model.onnx" ]; then
  echo "skipped: $2/tiny_conv is missing; scripts/make_models.py makes it"
  exit 77
fi
TROUPE=$1 MODELS=$2 exec "$python" "$here/command_line_test.py"
