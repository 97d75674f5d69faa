"""Held-out parts: each fold of a text is judged by what was learned from the others.

Cross-validation, jackknifing, the calibration of confidences and the search for wrong labels all
go over a text so. What is learned from all folds but one is used on that one, so nothing is used
on what it has seen (M. Stone, 1974, "Cross-validatory choice and assessment of statistical
predictions").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp.sampling import permutation

Work = TypeVar("Work")
Done = TypeVar("Done")
Learned = TypeVar("Learned")


def crossfit(
    folds: Sequence[Sequence[int] | NDArray[np.int64]],
    train: Callable[[list[int]], Learned],
    use: Callable[[Learned, list[int]], Done],
    threads: int = 1,
    callback: Callable[[int, int], object] | None = None,
) -> Iterator[Done]:
    """Yield, fold by fold, what is learned from the other folds and used on this one.

    folds : the numbers of the examples in each fold; an example is in one fold
    train : called with the numbers of all other folds, ascending
    use : called with what `train` returned, and the numbers of the fold as they are given
    threads : folds that are learned at a time; with 1, each is learned when it is asked for
    callback : called after each fold with how many are done, and how many there are
    """
    everything = np.concatenate([np.zeros(0, np.int64), *folds])

    def fitted(fold: Sequence[int] | NDArray[np.int64]) -> Done:
        held_out = np.asarray(fold, np.int64)
        rest = np.setdiff1d(everything, held_out)
        return use(train(rest.tolist()), held_out.tolist())

    return in_parallel(fitted, folds, threads, callback)


def in_parallel(
    run: Callable[[Work], Done],
    works: Sequence[Work],
    threads: int = 1,
    callback: Callable[[int, int], object] | None = None,
) -> Iterator[Done]:
    """Yield what `run` gives for each piece of work, in their order, several at a time."""
    for n_done, done in enumerate(_results(run, works, threads), 1):
        if callback is not None:
            callback(n_done, len(works))
        yield done


def _results(run: Callable[[Work], Done], works: Sequence[Work], threads: int) -> Iterator[Done]:
    if threads == 1:
        yield from map(run, works)
        return
    # Here, since it brings logging in, and one thread does without.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(run, works)


@contextmanager
def unheard() -> Iterator[None]:
    """Keep what this thread logs to itself: one training of many need not say what all would."""
    # Here, since it brings much in, and most programs do without.
    import logging
    import threading

    logger, mine = logging.getLogger("perceptron_nlp"), threading.get_ident()

    def others(record: logging.LogRecord) -> bool:
        return record.thread != mine

    logger.addFilter(others)
    try:
        yield
    finally:
        logger.removeFilter(others)


def in_turn(order: Sequence[int] | NDArray[np.int64], n_folds: int) -> list[list[int]]:
    """Deal examples out in their order, one to each fold and then again; folds are ascending."""
    return [np.sort(np.asarray(order, np.int64)[fold::n_folds]).tolist() for fold in range(n_folds)]


def by_size(
    units: Sequence[Sequence[int]], sizes: Sequence[int], n_folds: int, seed: int
) -> list[list[int]]:
    """Deal units of examples out, in random order, each to the fold that is smallest so far."""
    folds: list[list[int]] = [[] for _ in range(n_folds)]
    filled = [0] * n_folds
    order = permutation(len(units), seed).tolist()
    # Those without any size come last, so that each fold gets one with.
    for unit in sorted(order, key=lambda unit: not sizes[unit]):
        fold = min(range(n_folds), key=lambda number: (filled[number], number))
        folds[fold] += units[unit]
        filled[fold] += sizes[unit]
    return [sorted(fold) for fold in folds]
