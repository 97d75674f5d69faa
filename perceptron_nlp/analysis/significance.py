"""Correct labels of two labelings by sentence, and tests of their difference.

Words in one sentence stand and fall together, so sentences are what is drawn and swapped here,
except in McNemar's test, which takes words as independent and is given beside the other because
it is exact. Every random number comes from a seed, the same on every machine.

Sources: Q. McNemar, "Note on the sampling error of the difference between correlated proportions
or percentages", Psychometrika 12, 1947 (here in its exact, binomial form); E. W. Noreen,
"Computer-intensive methods for testing hypotheses", 1989, chapter 2, and for F1 A. Yeh, "More
accurate tests for the statistical significance of result differences", COLING 2000; B. Efron and
R. J. Tibshirani, "An introduction to the bootstrap", 1993, section 13.3 (percentile intervals).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.sampling import draws
from perceptron_nlp.text.spans import spans_of

ROUNDS = 10_000
RESAMPLES = 1_000
CONFIDENCE = 0.95
# Cells of the largest array made on the way: 32 MB of them.
_CELLS = 1 << 22
# Scores are quotients of whole numbers: those that differ do so by far more.
_ROUNDING = 1e-12

Array = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Interval = tuple[float, float]
Labels = Sequence[Sequence[str]]
Gold = Sequence[Sequence[str | None]]


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Correct labels of one labeling by sentence; each an int64[n_sentences].

    ``gold`` are words with a gold label, or gold spans; ``given`` the same words again, or the
    spans that were given; ``right`` those that are right.
    """

    gold: Array
    given: Array
    right: Array

    @classmethod
    def of(cls, rows: Iterable[tuple[int, int, int]]) -> Counts:
        """From (gold, given, right) of each sentence."""
        table = np.array(list(rows), np.int64).reshape(-1, 3)
        return cls(table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy())

    @property
    def score(self) -> float:
        """The share of words that are right, or the F1 of spans; 0 where there are none."""
        whole = int(self.gold.sum() + self.given.sum())
        return 2 * int(self.right.sum()) / whole if whole else 0.0


def word_counts(gold: Gold, given: Labels) -> Counts:
    """Count tokens with a gold label, and the correct ones among them."""
    return Counts.of(
        (
            n := sum(truth is not None for truth in truths),
            n,
            sum(truth == label for truth, label in zip(truths, labels, strict=True)),
        )
        for truths, labels in zip(gold, given, strict=True)
    )


def span_counts(gold: Gold, given: Labels) -> Counts:
    """Gold spans, spans given, and those among them that are right.

    Sentences with a word that has no gold label count for nothing.
    """
    rows = []
    for truths, labels in zip(gold, given, strict=True):
        whole = [truth for truth in truths if truth is not None]
        if len(whole) < len(truths):
            rows.append((0, 0, 0))
            continue
        truth, found = set(spans_of(whole)), set(spans_of(labels))
        rows.append((len(truth), len(found), len(truth & found)))
    return Counts.of(rows)


def mcnemar(gained: int, lost: int) -> float:
    """Return the two-sided p-value of McNemar's exact test.

    That is the chance, if each word that one labeling alone has right were a toss of a coin, of a
    toss at least as uneven; 1 if there is none. Raises ArgumentError for a negative count.
    """
    if gained < 0 or lost < 0:
        raise ArgumentError(f"gained and lost count words; got {gained} and {lost}")
    n, fewer = gained + lost, min(gained, lost)
    # Logarithms of the binomial coefficients, each from the one before.
    steps = np.arange(1, fewer + 1, dtype=np.float64)
    logs = np.concatenate([[0.0], np.cumsum(np.log((n + 1 - steps) / steps))])
    largest = float(logs.max())
    tail = math.exp(largest - n * math.log(2)) * float(np.exp(logs - largest).sum())
    return min(1.0, 2 * tail)


def randomisation(a: Counts, b: Counts, *, rounds: int = ROUNDS, seed: int = 1) -> float:
    """The two-sided p-value of the paired approximate randomisation test over sentences.

    In each round the two labelings of every sentence are swapped or not, at random; the p-value is
    the share of rounds, the one that happened among them, in which the scores lie at least as far
    apart.

    Raises ArgumentError if the counts are not of the same gold sentences.
    """
    if not np.array_equal(a.gold, b.gold):
        raise ArgumentError("b: its counts are of other sentences than those of a")
    swap = np.flatnonzero((a.right != b.right) | (a.given != b.given))
    if not len(swap):
        return 1.0
    apart = abs(a.score - b.score) - _ROUNDING
    moved = np.stack([b.right - a.right, b.given - a.given], 1)[swap].astype(np.float64)
    gold, given_a, given_b = (int(part.sum()) for part in (a.gold, a.given, b.given))
    right_a, right_b = int(a.right.sum()), int(b.right.sum())
    hits, chunk = 0, min(rounds, max(1, _CELLS // len(swap)))
    n_bytes = -(-len(swap) // 8)
    for number, first in enumerate(range(0, rounds, chunk)):
        n = min(chunk, rounds - first)
        # A chunk takes its part of one long sequence of random bytes, the last one a part of that.
        tosses = draws(256, chunk * n_bytes, seed, number)[: n * n_bytes].astype(np.uint8)
        swapped = np.unpackbits(tosses.reshape(n, n_bytes), axis=1, count=len(swap))
        right, given = (swapped.astype(np.float64) @ moved).T
        found = np.abs(
            _quotient(2 * (right_a + right), gold + given_a + given)
            - _quotient(2 * (right_b - right), gold + given_b - given)
        )
        hits += int((found >= apart).sum())
    return (hits + 1) / (rounds + 1)


def resampled(labelings: Sequence[Counts], *, rounds: int = RESAMPLES, seed: int = 1) -> Floats:
    """Return the scores of labelings on other samples of as many sentences: float64[n, rounds]."""
    parts = np.stack(
        [part for counts in labelings for part in (counts.right, counts.gold + counts.given)], 1
    )
    n = len(parts)
    if not n:
        return np.zeros((len(labelings), rounds))
    chunk = min(rounds, max(1, _CELLS // n))
    sums = []
    for number, first in enumerate(range(0, rounds, chunk)):
        size = min(chunk, rounds - first)
        drawn = draws(n, chunk * n, seed, number)[: size * n].reshape(size, n)
        drawn = drawn + n * np.arange(size)[:, None]
        times = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
        sums.append(times.astype(np.float64) @ parts.astype(np.float64))
    total = np.concatenate(sums)
    return _quotient(2 * total[:, ::2], total[:, 1::2]).T


def interval(scores: Floats) -> Interval:
    """The middle 95 % of resampled scores, or of differences between them."""
    rest = (1 - CONFIDENCE) / 2
    low, high = np.quantile(scores, [rest, 1 - rest])
    return float(low), float(high)


def _quotient(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
