"""Parts of a long work done side by side by threads, and heard as if one came after the other.

What a part gives, reports and logs does not depend on how many threads there are: reports and log
records of a part that another thread does are kept until all parts before it are done. A part may
have parts of its own, which the threads of the outermost call do, too.

Nobody waits for a part that no thread has begun, and a thread that waits does only what comes
before the end of its own part if one comes after the other. So of the parts that are begun, the
one that would end first never waits.

The core's learning, numbers as arrays and labeling let other threads run; Python code does not.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from perceptron_nlp._checks import check_int
from perceptron_nlp._core.train.driver import looks
from perceptron_nlp.tagger.train.options import TrainingOptions

Done = TypeVar("Done")
Report = Callable[[Any], object]

logger = logging.getLogger("perceptron_nlp")

# Seconds that a thread waits before it looks for other work, and whether its own is still wanted.
LOOK = 0.01


class _Over(KeyboardInterrupt):
    """Raised in a part that is not wanted any more."""


class _Part:
    """A part that one thread is to do.

    around : the part that it is a part of
    path : its number, after those of the parts around it
    failed : numbers of those beside it that failed, and -1 if none is wanted any more
    heard, done, error : its reports and log records, what it gave and raised, if these are kept
    ended : held until then
    """

    def __init__(
        self, run: Callable[[Report | None], Any], around: _Part | None, n: int, failed: list[int]
    ) -> None:
        self.run, self.around, self.failed = run, around, failed
        self.path: tuple[int, ...] = (*_path(around), n)
        self.heard: list[Any] = []
        self.done: Any = None
        self.error: BaseException | None = None
        self.ended = threading.Lock()
        self.ended.acquire()

    def is_over(self) -> bool:
        """Tell if this part, or one around it, is not wanted any more."""
        is_over = any(number < self.path[-1] for number in self.failed)
        return is_over or (self.around is not None and self.around.is_over())

    def run_apart(self) -> None:
        """Do the part before it is its turn to be heard."""
        try:
            with _working(self, self.heard):
                _look()
                self.done = self.run(self.heard.append)
        except BaseException as error:
            self.error = error
            self.failed.append(self.path[-1])
            is_here = threading.current_thread() is threading.main_thread()
            if is_here and not isinstance(error, (Exception, _Over)):
                raise
        finally:
            self.ended.release()


def _path(part: _Part | None) -> tuple[int, ...]:
    return () if part is None else part.path


class _Here(threading.local):
    """What a thread works at, with whom, and where its log records go; nothing outside of parts."""

    part: _Part | None = None
    pool: _Pool | None = None
    heard: list[Any] | None = None


_here = _Here()


@contextmanager
def _working(part: _Part, heard: list[Any] | None) -> Iterator[None]:
    before = _here.part, _here.heard
    _here.part, _here.heard = part, heard
    try:
        yield
    finally:
        _here.part, _here.heard = before


def _held(record: logging.LogRecord) -> bool:
    if _here.heard is not None:
        _here.heard.append(record)
    return _here.heard is None


logger.addFilter(_held)


def _look() -> None:
    """Raise if the part that this thread works at is not wanted any more."""
    if _here.part is not None and _here.part.is_over():
        raise _Over


class _Pool:
    """Threads, that of the outermost call among them, and the parts that none has begun."""

    def __init__(self) -> None:
        self._is_closed = False
        self._guard = threading.Lock()
        self._open: list[_Part] = []
        self._calls: SimpleQueue[None] = SimpleQueue()

    def offer(self, parts: Sequence[_Part]) -> None:
        """Let others do parts."""
        with self._guard:
            self._open += parts
        self._call(len(parts))

    def close(self, helpers: Sequence[threading.Thread]) -> None:
        """Let those that help do what is begun, and no more."""
        self._is_closed = True
        self._call(len(helpers))
        for helper in helpers:
            helper.join()

    def _call(self, n: int) -> None:
        for _ in range(n):
            self._calls.put(None)

    def take(self, part: _Part) -> bool:
        """Return True if no thread has begun a part, which is then this thread's."""
        with self._guard:
            is_open = part in self._open
            if is_open:
                self._open.remove(part)
        return is_open

    def helped(self) -> bool:
        """Do a part that ends before this thread's own, and tell if there is one."""
        own = _path(_here.part)
        with self._guard:
            first = min(self._open, key=lambda part: part.path, default=None)
            if first is None or first.path[: len(own)] > own:
                return False
            self._open.remove(first)
        first.run_apart()
        return True

    def wait(self, is_there: Callable[[float], bool]) -> None:
        """Do other parts until something is there."""
        while not is_there(0 if self.helped() else LOOK):
            _look()

    def help_on(self) -> None:
        """Do parts until there will be no more."""
        _here.pool = self
        with _looking():
            while not self._is_closed:
                if not self.helped():
                    try:
                        self._calls.get(timeout=10 * LOOK)
                    except Empty:
                        continue


@contextmanager
def _looking() -> Iterator[None]:
    looks[threading.get_ident()] = _look
    try:
        yield
    finally:
        del looks[threading.get_ident()]


@contextmanager
def _pool_of(threads: int) -> Iterator[_Pool]:
    """The pool that this thread belongs to, or one of so many threads, or as many as there are."""
    if _here.pool is not None:
        yield _here.pool
        return
    pool, helpers = _Pool(), list[threading.Thread]()
    try:
        with _looking():
            _here.pool = pool
            for _ in range(threads - 1):
                helper = threading.Thread(target=pool.help_on)
                try:
                    helper.start()
                except RuntimeError:
                    break
                helpers.append(helper)
            yield pool
    finally:
        _here.pool = None
        pool.close(helpers)


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
    raises, the other parts end within a second or two, and none goes on when the outermost call
    returns.
    """
    if min(threads, len(parts)) <= 1:
        return [part(report) for part in parts]
    with _pool_of(threads) as pool:
        failed: list[int] = []
        own = [_Part(run, _here.part, number, failed) for number, run in enumerate(parts)]
        try:
            pool.offer(own)
            return [_outcome(pool, part, report) for part in own]
        finally:
            failed.append(-1)
            for part in own:
                pool.take(part)


def _outcome(pool: _Pool, part: _Part, report: Report | None) -> Any:
    """Do a part whose turn it is, or pass on what was heard of it, and return what it gave."""
    if pool.take(part):
        with _working(part, _here.heard):
            return part.run(report)
    pool.wait(lambda seconds: part.ended.acquire(timeout=seconds))
    for event in part.heard:
        if isinstance(event, logging.LogRecord):
            event.thread = threading.get_ident()
            logger.handle(event)
        elif report is not None:
            report(event)
    if part.error is not None:
        raise part.error
    return part.done


def in_blocks(
    run: Callable[[range, Report | None], list[Done]], n: int, threads: int, report: Report | None
) -> list[Done]:
    """Return what `run` gives for the numbers 0 … n-1, a block of them to each thread."""
    n_blocks = min(threads, n)
    ends = [n * number // n_blocks for number in range(n_blocks + 1)]
    blocks = [partial(run, range(*own)) for own in pairwise(ends)]
    return [done for found in side_by_side(blocks, threads, report) for done in found]


def awaited(found: Sequence[Done]) -> Done:
    """Return what a part before this one puts into a list, as soon as it is there."""

    def is_there(seconds: float) -> bool:
        time.sleep(seconds)
        return bool(found)

    if _here.pool is not None:
        _here.pool.wait(is_there)
    return found[0]
