"""Parts of a long work done side by side by threads, and heard as if one came after the other.

What a part gives, reports and logs does not depend on how many threads there are: reports and log
records of a part wait until all parts before it are done, and then the thread that asked for the
parts passes them on. A part may have parts of its own. As many parts work at a time as the
outermost call has threads; a part that waits for others leaves its place to them.

The core's learning, numbers as arrays and labeling let other threads run; Python code does not.
"""

from __future__ import annotations

import heapq
import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, TypeVar

from perceptron_nlp._checks import check_int
from perceptron_nlp._core.train.driver import looks
from perceptron_nlp.tagger.train.options import TrainingOptions

Done = TypeVar("Done")
Report = Callable[[Any], object]
Path = tuple[int, ...]

logger = logging.getLogger("perceptron_nlp")

# Seconds between two looks at whether a part that waits for another is still wanted.
LOOK = 0.1


class _Places:
    """Places to work at, taken by those that wait in the order of their paths.

    So a part's own parts come before those after it, and few are half done at a time.
    """

    def __init__(self, n: int) -> None:
        self._n_free = n
        self._waiting: list[tuple[Path, threading.Lock]] = []
        self._guard = threading.Lock()

    def ask(self, path: Path, ready: threading.Lock) -> None:
        """Release a lock as soon as there is a place for a part."""
        with self._guard:
            heapq.heappush(self._waiting, (path, ready))
        self.leave(0)

    def leave(self, n: int = 1) -> None:
        """Give so many places back, and let others take those that are free."""
        with self._guard:
            self._n_free += n
            while self._n_free and self._waiting:
                self._n_free -= 1
                heapq.heappop(self._waiting)[1].release()


class _Here(threading.local):
    """What holds in a thread: of one that works at no part, nothing.

    path : the number of its part, after those of the parts that this is a part of
    places : as many as parts may work at a time
    is_over : tell, of this part and those around it, if they are not wanted any more
    heard : where its log records go
    """

    path: Path = ()
    places: _Places | None = None
    is_over: tuple[Callable[[], bool], ...] = ()
    heard: SimpleQueue[Any] | None = None


_here = _Here()


class _End(NamedTuple):
    """The last that is heard of a part."""


def _held(record: logging.LogRecord) -> bool:
    if _here.heard is not None:
        _here.heard.put(record)
    return _here.heard is None


logger.addFilter(_held)


# Threads that hear each other may wait for ever on a rare schedule, so parts go one by one.
_MOST = 1


def checked_threads(threads: int | None) -> int:
    """Return the number of threads, which is by default that of processors; raise for others."""
    if threads is None:
        own = getattr(os, "sched_getaffinity", None)
        return len(own(0)) if own is not None else os.cpu_count() or 1
    check_int("threads", threads, 1, 1024)
    return threads


def n_threads(options: TrainingOptions) -> int:
    """Return how many columns and runs are learned at a time: one, if the state of all is saved."""
    one_by_one = options.checkpoint is not None or options.max_memory is not None
    return 1 if one_by_one else checked_threads(options.threads)


def side_by_side(
    parts: Sequence[Callable[[Report | None], Done]], threads: int, report: Report | None = None
) -> list[Done]:
    """Return what each part gives.

    parts : called with what takes their reports; they are begun in their order
    threads : parts that work at a time; within another part, that one's threads are shared
    report : called in this thread with the reports of the first part, then of the next

    What is raised is what the first part that fails raises. Then, and where `report` or Ctrl-C
    raises, the other parts end within a second or two, and none goes on when this returns.
    """
    if min(threads, len(parts), _MOST) <= 1:
        return [part(report) for part in parts]
    group = _Group(parts)
    try:
        group.start(threads)
        with _place_left():
            return [
                # Where the system gives fewer threads, this one does the others' work.
                _heard_to_end(group, number, report)
                if number < len(group.helpers)
                else part(report)
                for number, part in enumerate(parts)
            ]
    finally:
        group.first_failed = -1
        for helper in group.helpers:
            helper.join()


def in_blocks(
    run: Callable[[range, Report | None], list[Done]], n: int, threads: int, report: Report | None
) -> list[Done]:
    """Return what `run` gives for the numbers 0 … n-1, a block of them to each thread."""
    n_blocks = min(threads, n)
    ends = [n * number // n_blocks for number in range(n_blocks + 1)]
    blocks = [partial(run, range(*own)) for own in pairwise(ends)]
    return [done for found in side_by_side(blocks, threads, report) for done in found]


def awaited(future: Future[Done]) -> Done:
    """Return what a part before this one gives as soon as it is there."""
    with _place_left():
        while not future.done():
            _look()
            threading.Event().wait(LOOK)
    return future.result()


class _Group:
    """Parts that work side by side.

    found : what they gave, by their number
    failed : what they raised
    first_failed : parts after this one are not wanted
    helpers : threads, one each of the first parts
    """

    def __init__(self, parts: Sequence[Callable[[Report | None], Any]]) -> None:
        self.parts = parts
        self.found: dict[int, Any] = {}
        self.failed: dict[int, BaseException] = {}
        self.first_failed = len(parts)
        self.heard: list[SimpleQueue[Any]] = [SimpleQueue() for _ in parts]
        self.helpers: list[threading.Thread] = []
        self._guard = threading.Lock()

    def start(self, threads: int) -> None:
        """Start threads, one a part or as many as the system gives."""
        places = _here.places or _Places(threads)
        around = (_here.path, places, _here.is_over)
        for number in range(len(self.parts)):
            ready = threading.Lock()
            ready.acquire()
            helper = threading.Thread(target=self._work, args=(number, ready, *around))
            try:
                helper.start()
            except RuntimeError:
                break
            places.ask((*_here.path, number), ready)
            self.helpers.append(helper)

    def _work(
        self,
        number: int,
        ready: threading.Lock,
        path: Path,
        places: _Places,
        is_over: tuple[Callable[[], bool], ...],
    ) -> None:
        _here.path, _here.places, _here.heard = (*path, number), places, self.heard[number]
        _here.is_over = (*is_over, lambda: self.first_failed < number)
        looks[threading.get_ident()] = _look
        ready.acquire()
        try:
            _look()
            self.found[number] = self.parts[number](self.heard[number].put)
        except BaseException as error:
            with self._guard:
                self.failed[number] = error
                self.first_failed = min(number, self.first_failed)
        finally:
            places.leave()
            del looks[threading.get_ident()]
            self.heard[number].put(_End())


def _heard_to_end(group: _Group, number: int, report: Report | None) -> Any:
    """Pass on what is heard of a part, and return what it gave."""
    while True:
        try:
            event = group.heard[number].get(timeout=LOOK)
        except Empty:
            _look()
            continue
        if isinstance(event, _End):
            break
        if isinstance(event, logging.LogRecord):
            event.thread = threading.get_ident()
            logger.handle(event)
        elif report is not None:
            report(event)
    if number in group.failed:
        raise group.failed[number]
    return group.found[number]


@contextmanager
def _place_left() -> Iterator[None]:
    """Leave this part's place to others meanwhile."""
    places, ready = _here.places, threading.Lock()
    if places is not None:
        places.leave()
    try:
        yield
    finally:
        if places is not None:
            ready.acquire()
            places.ask(_here.path, ready)
            ready.acquire()


def _look() -> None:
    """Raise if this part is not wanted any more."""
    if any(is_over() for is_over in _here.is_over):
        raise KeyboardInterrupt
