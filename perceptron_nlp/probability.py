"""Scores turned into probabilities: softmax, temperatures, isotonic curves, and how good they are.

A linear model's scores rank labels, but have no unit. A softmax over scores divided by a
temperature gives each label a share (C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger, 2017, "On
calibration of modern neural networks", section 4.2); an isotonic curve gives the accuracy at a
score (B. Zadrozny and C. Elkan, 2002, "Transforming classifier scores into accurate multiclass
probability estimates").
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

# No loss is larger than that of something which was held to be so unlikely.
_UNLIKELY = 1e-6
# Temperatures are tried in octaves of the middle lead, from where they mostly are downhill, then
# in quarters around the best.
_FIRST, _LAST_STEP = -3, 12
_FINE = (-0.75, -0.5, -0.25, 0.25, 0.5, 0.75)
BINS = 15


def rounded(x: float) -> float:
    """The number in six digits: short in a file, and the same on machines whose logarithms
    differ in the last bit."""
    return float(f"{x:.6g}")


def log_softmax(scores: Floats) -> Floats:
    """Return the logarithms of probabilities along the last axis."""
    shifted = scores - scores.max(-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(-1, keepdims=True)))


def softmax(scores: Floats, temperature: float) -> Floats:
    """Return exp(scores / temperature), each row over its sum: float64[n_tokens, n_labels].

    Scores are minus infinity for impossible labels, with another one in each row.
    """
    with np.errstate(over="ignore"):
        powers = np.exp((scores - scores.max(axis=1, keepdims=True)) / temperature)
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares


def log_losses(chances: Floats, happened: Mask) -> Floats:
    """Return the log loss of each event, to which a probability was given."""
    losses: Floats = -np.log(np.maximum(np.where(happened, chances, 1 - chances), _UNLIKELY))
    return losses


def fit_temperature(leads: Floats, loss: Callable[[float], float]) -> float:
    """Return the temperature with the least loss, to a quarter of an octave, in six digits.

    leads : float64[n]; by how much scores lead, whose median is the unit; infinite ones are left
        out, and so are signs
    loss : the loss at a temperature; one minimum is assumed
    """
    found = np.abs(leads[np.isfinite(leads)])
    unit = float(np.median(found[found > 0])) if found.any() else 1.0

    @functools.cache
    def loss_of(octave: float) -> float:
        return loss(rounded(unit * 2.0**octave))

    best = _FIRST
    for direction in (-1, 1):
        while abs(best - _FIRST) < _LAST_STEP and loss_of(best + direction) < loss_of(best):
            best += direction
    tried = [best, *(best + step for step in _FINE)]
    return rounded(unit * 2.0 ** min(tried, key=lambda octave: (loss_of(octave), octave)))


def rising(counts: Sequence[tuple[float, float, float]]) -> list[tuple[float, float, float]]:
    """Pool (right, all, sum of margins) of tokens, in the order of margins, until accuracy rises.

    Pool adjacent violators (M. Ayer, H. D. Brunk, G. M. Ewing, W. T. Reid and E. Silverman, 1955,
    "An empirical distribution function for sampling with incomplete information").
    """
    pools: list[tuple[float, float, float]] = []
    for pool in counts:
        while pools and pools[-1][0] * pool[1] >= pool[0] * pools[-1][1]:
            pool = _together(pools.pop(), pool)
        pools.append(pool)
    return pools


def curve_of(
    margins: Floats, right: Mask, least: int, most: int
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the points of a rising curve from finite margins to accuracy.

    Each pool of tokens, of ``least`` at least if there are so many, is a point at its mean margin,
    at most so many as ``most``; (right + 1/2) / (all + 1) of it, as nothing is sure after a count.
    """
    pools = _pruned(_large_enough(rising(_runs(margins, right)), least), most)
    points: dict[float, float] = {}
    highest = 0.0
    for hit, n, total in pools:
        highest = max(highest, rounded((hit + 0.5) / (n + 1)))
        points.setdefault(rounded(total / n), highest)
    return tuple(points), tuple(points.values())


def _runs(margins: Floats, right: Mask) -> list[tuple[float, float, float]]:
    """Return the input of `rising`, neighboring margins at which all words are right, or all wrong,
    put together: a pool never ends between two alike, and these are most."""
    at, place = np.unique(margins, return_inverse=True)
    counts = np.bincount(place)
    hits = np.bincount(place, right)
    alike = hits[1:] * counts[:-1] == hits[:-1] * counts[1:]
    starts = np.concatenate([[0], np.flatnonzero(~alike) + 1])
    sums = [np.add.reduceat(x, starts).tolist() for x in (hits, counts, at * counts)]
    return list(zip(*sums, strict=True))


def _large_enough(
    pools: Sequence[tuple[float, float, float]], least: int
) -> list[tuple[float, float, float]]:
    """Pools of at least so many words, each put together of neighbors."""
    found: list[tuple[float, float, float]] = []
    for pool in pools:
        if found and found[-1][1] < least:
            pool = _together(found.pop(), pool)
        found.append(pool)
    if len(found) > 1 and found[-1][1] < least:
        last = found.pop()
        found[-1] = _together(found[-1], last)
    return found


def _pruned(pools: list[tuple[float, float, float]], most: int) -> list[tuple[float, float, float]]:
    """At most so many pools: the two neighbors with the fewest words together become one."""
    pools = list(pools)
    while len(pools) > most:
        at = min(range(len(pools) - 1), key=lambda i: pools[i][1] + pools[i + 1][1])
        pools[at : at + 2] = [_together(pools[at], pools[at + 1])]
    return pools


def _together(
    one: tuple[float, float, float], two: tuple[float, float, float]
) -> tuple[float, float, float]:
    return one[0] + two[0], one[1] + two[1], one[2] + two[2]


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Tokens with confidences from ``low`` up to ``high``, their mean confidence and accuracy.

    Both are None if there are none.
    """

    low: float
    high: float
    count: int
    confidence: float | None
    accuracy: float | None


@dataclass(frozen=True, slots=True)
class Reliability:
    """Distance of confidences from accuracies, in 15 bins of equal width from 0 to 1."""

    bins: tuple[ReliabilityBin, ...]

    @classmethod
    def of(cls, confidences: Iterable[float] | Floats, right: Iterable[bool] | Mask) -> Reliability:
        """Of words with these confidences (0 to 1), each right or wrong."""
        given = np.array(list(confidences), np.float64)
        hits = np.array(list(right), np.bool_)
        place = np.minimum((given * BINS).astype(np.int64), BINS - 1)
        counts = np.bincount(place, minlength=BINS)
        sums, rights = (np.bincount(place, x, BINS) for x in (given, hits))
        return cls(
            tuple(
                ReliabilityBin(
                    k / BINS,
                    (k + 1) / BINS,
                    n,
                    float(sums[k]) / n if n else None,
                    float(rights[k]) / n if n else None,
                )
                for k, n in enumerate(counts.tolist())
            )
        )

    @property
    def ece(self) -> float:
        """The expected calibration error: |confidence - accuracy| of each bin, weighed by words.

        As in C. Guo et al. (2017), "On calibration of modern neural networks", section 2, with 15
        bins of equal width, of the confidence in the label given; 0 where there are no words.
        """
        total = sum(part.count for part in self.bins)
        gaps = sum(
            part.count * abs(part.confidence - part.accuracy)
            for part in self.bins
            if part.confidence is not None and part.accuracy is not None
        )
        return gaps / total if total else 0.0
