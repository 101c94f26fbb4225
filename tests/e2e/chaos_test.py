"""Deaths of actors in the real process under mixed load; `chaos.py --seconds 120` is the long form."""

import math

from chaos import Run
from support import report


def test_requests_are_answered_once_whoever_dies():
    with Run(seconds=10, kill_every=0.5, seed=1) as run:
        run.go()
        for line in run.report():
            report("chaos: " + line)
        assert not run.faults
        assert run.status == 0
        assert len(run.deaths) > 10
        assert all(math.isfinite(back) for back in run.recoveries()[1])
