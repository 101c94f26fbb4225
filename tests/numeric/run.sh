#!/usr/bin/env bash
# run.sh SCRIPT TROUPE REPOSITORY…: runs a comparison, or exits with 77 where something is missing.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
python=${TROUPE_PYTHON:-$here/../../.venv/bin/python}
if ! "$python" -c 'import numpy, onnxruntime, sklearn, skl2onnx' 2>/dev/null; then
  echo "skipped: $python lacks packages; scripts/venv.sh makes it"
  exit 77
fi
exec "$python" "$here/$1" "${@:2}"
