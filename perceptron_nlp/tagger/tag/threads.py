"""Many sentences labeled by several threads; the result does not depend on how many."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from perceptron_nlp._core.tag.decode import ListJob, SentenceDecoder, TokenConstraints

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from perceptron_nlp._core.text.writer import TextFiller


# Fewer sentences than this are not worth a second thread.
CHUNK = 512
# Words whose scores are looked at together, and scores: enough to keep NumPy busy, few enough to
# stay in a cache, or at least small.
PIECE_WORDS = 2048
PIECE_SCORES = 1 << 18

T = TypeVar("T")
Use: TypeAlias = "Callable[[range, npt.NDArray[np.int64], npt.NDArray[np.float64]], T]"


def label_lists(
    decoder: SentenceDecoder,
    sentences: Sequence[Sequence[str]],
    kept: TokenConstraints | None,
    threads: int,
) -> list[list[str | None]]:
    """Return the labels that a decoder gives, by several threads."""
    job = ListJob(list(sentences))
    _share(job, lambda _: decoder.share(job, kept), len(sentences), threads)
    return job.found[0]


def label_columns(
    filler: TextFiller, sentences: Sequence[Sequence[str]], n_columns: int, threads: int
) -> list[list[list[str | None]]]:
    """Return the labels of columns, and the lemmas behind them, by several threads."""
    job = ListJob(list(sentences), n_columns)
    _share(job, lambda _: filler.share(job), len(sentences), threads)
    return job.found


def _share(job: ListJob, run: Callable[[range], None], n: int, threads: int) -> None:
    collecting = gc.isenabled()
    # The collector would go over all lists that were made when a thread ends.
    gc.disable()
    try:
        in_threads(run, [range(n)] * (threads if n > CHUNK else 1), threads)
    finally:
        if collecting:
            gc.enable()
    if job.unread is not None:
        raise job.unread


def chunks_of(n: int) -> list[range]:
    """Return the numbers of n sentences in chunks that are worth a thread's turn."""
    return [range(at, min(n, at + CHUNK)) for at in range(0, n, CHUNK)]


def in_threads(run: Callable[[range], T], parts: Sequence[range], threads: int) -> list[T]:
    """Return what `run` gives for each part, by the calling thread and others beside it.

    What is raised is what the first part that fails raises, whatever the threads do. Where the
    system gives fewer threads than are asked for, fewer do the work.
    """
    if threads == 1 or len(parts) <= 1:
        return [run(part) for part in parts]
    # Here, since one thread does without.
    import threading

    found: dict[int, T] = {}
    failed: dict[int, BaseException] = {}
    numbers, guard = iter(range(len(parts))), threading.Lock()

    def work() -> None:
        while True:
            with guard:
                number = next(numbers, -1)
            # Parts are taken in order: all before one that failed are done, or being done.
            if number < 0 or failed:
                return
            try:
                found[number] = run(parts[number])
            except BaseException as error:
                # An interrupt goes before what is wrong with the sentences.
                failed[number if isinstance(error, Exception) else -1] = error

    helpers = []
    try:
        for _ in range(min(threads, len(parts)) - 1):
            helper = threading.Thread(target=work)
            try:
                helper.start()
            except RuntimeError:
                break
            helpers.append(helper)
        work()
    except BaseException as error:
        failed[-1] = error
    for helper in helpers:
        helper.join()
    if failed:
        raise failed[min(failed)]
    return [found[number] for number in range(len(parts))]


def in_pieces(
    run: Callable[[range], T], lengths: Sequence[int], n_labels: int, threads: int
) -> list[T]:
    """Return what `run` gives for parts of a batch, each small enough to hold all its scores.

    `run` takes the numbers of the sentences of a piece. Where pieces end depends on the lengths of
    sentences and the number of labels, not on the threads.
    """
    room = max(1, min(PIECE_WORDS, PIECE_SCORES // n_labels))
    ends, words = [0], 0
    for number, length in enumerate(lengths, 1):
        words += length
        if words >= room or number == len(lengths):
            ends.append(number)
            words = 0
    pieces = [range(a, b) for a, b in itertools.pairwise(ends)]
    return in_threads(run, pieces, threads)
