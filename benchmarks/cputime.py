"""How long something takes at the least, in CPU seconds: what else the machine does only adds."""

from __future__ import annotations

import time
from collections.abc import Callable

Job = Callable[[], object]
LEAST_SECONDS = 0.2


def seconds(job: Job) -> float:
    """The CPU seconds of a job, run once."""
    start = time.process_time()
    job()
    return time.process_time() - start


def least_of(rounds: int, job: Job) -> float:
    """The least CPU seconds of a job, run so many times."""
    return min(seconds(job) for _ in range(rounds))


def least_seconds(job: Job, ready: Job | None = None, total: float = LEAST_SECONDS) -> float:
    """The least CPU seconds of a job, run until `total` is used up; `ready` is not counted."""
    best, used = float("inf"), 0.0
    while used < total:
        if ready is not None:
            ready()
        best = min(best, seconds(job))
        used += best
    return best
