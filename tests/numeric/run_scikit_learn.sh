#!/usr/bin/env bash
# run_scikit_learn.sh TROUPE: compares with scikit-learn, or exits with 77 where it is missing.
# TROUPE_SKLEARN_PYTHON names a Python with what scripts/requirements-bench.txt lists.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
python=${TROUPE_SKLEARN_PYTHON:-$here/../../.venv/bin/python}
if [[ ! -x $python ]]; then
  echo "skipped: $python is missing; scripts/venv.sh makes it"
  exit 77
fi
exec "$python" "$here/compare_with_scikit_learn.py" "$@"
