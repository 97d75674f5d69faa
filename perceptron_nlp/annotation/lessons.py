"""Learning beside the work: models are trained for points of it, in a thread or when needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from perceptron_nlp.annotation.goldfile import Record
from perceptron_nlp.annotation.learning import Learned, Learner, schedule
from perceptron_nlp.annotation.pool import Item

# That of the model in use, the newest one, and two that an undo may lead back to.
_MOST_JOBS = 4


class Lessons:
    """What was learned at points of the work.

    Parameters
    ----------
    learner : learns
    every : proposals are never older than so many tokens
    background : whether a thread trains while the person goes on; the results are the same
    """

    def __init__(self, learner: Learner, every: int, background: bool) -> None:
        self._learner = learner
        self._every = every
        self._threads = ThreadPoolExecutor(1) if background else None
        self._jobs: dict[tuple[str, ...], Future[Learned]] = {}

    def close(self) -> None:
        """End the thread, if there is one."""
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)

    def warm_up(self) -> None:
        """Begin to learn what the first training would wait for, in the background."""
        if self._threads is not None:
            self._threads.submit(self._learner.learn_clusters)

    def prepare(self, records: Sequence[Record], waiting: Callable[[], Iterable[Item]]) -> None:
        """Begin to learn what will be needed, in the background; see learned."""
        if self._threads is not None:
            for count in dict.fromkeys(self._points(records)):
                self._job(records, count, waiting)

    def learned(self, records: Sequence[Record], waiting: Callable[[], Iterable[Item]]) -> Learned:
        """Return the state of learning that proposals come from; wait for it where need be.

        Parameters
        ----------
        records : what was annotated, in order; nothing is learned from those of the check sample
        waiting : gives what may still be asked for
        """
        return self._job(records, self._points(records)[0], waiting).result()

    def _points(self, records: Sequence[Record]) -> tuple[int, int]:
        sizes = [0 if record.is_check else len(record.sentence) for record in records]
        return schedule(sizes, self._every)

    def _job(
        self, records: Sequence[Record], count: int, waiting: Callable[[], Iterable[Item]]
    ) -> Future[Learned]:
        """Return the learning after some records, begun, or done where nothing runs beside."""
        key = tuple(record.text for record in records[:count])
        job = self._jobs.get(key)
        if job is None:
            learned = [record.sentence for record in records[:count] if not record.is_check]
            later = [r.item for r in records[count:] if r.item is not None and not r.is_check]
            left = sorted([*waiting(), *later], key=lambda item: item.start)
            if self._threads is not None:
                job = self._threads.submit(self._learner.learn, learned, left)
            else:
                job = Future()
                job.set_result(self._learner.learn(learned, left))
            while len(self._jobs) >= _MOST_JOBS:
                del self._jobs[next(iter(self._jobs))]
            self._jobs[key] = job
        return job
