"""Scores turned into confidences: the probability that a predicted label is correct.

A linear model's scores rank labels, but have no unit. A dev set adds an isotonic curve: it rises
from the margin, by which the predicted label leads over the best other one, to the accuracy of
tokens at such a margin (B. Zadrozny and C. Elkan, 2002, "Transforming classifier scores into
accurate multiclass probability estimates"). What that leaves is divided among the other labels by a
softmax over their scores, divided by a temperature (C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger,
2017, "On calibration of modern neural networks", section 4.2).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[np.float64]"
Mask: TypeAlias = "npt.NDArray[np.bool_]"

# The most points that a curve has.
MOST_POINTS = 32
# The longest that a number is when it is written with six digits.
_LONGEST = -1.23456e-300


class Calibration(NamedTuple):
    """A model's isotonic curve and temperature; see the module.

    temperature : above 0; divides scores before a softmax
    margins : ascending, 1 to 32; the margins of the curve's points
    rates : 0 to 1, never falling; the accuracy at each of the margins
    dictionary : 0 to 1; the accuracy of the tag dictionary
    """

    temperature: float
    margins: tuple[float, ...]
    rates: tuple[float, ...]
    dictionary: float = 1.0

    def confidences(self, scores: Array, given: Mask) -> Array:
        """Return float64[n_tokens], 0 to 1: the confidence in the predicted labels.

        ``scores`` are float64[n_tokens, n_labels], minus infinity for impossible labels; ``given``
        (bool) are the labels that count as predicted, one a token at least.
        """
        import numpy as np

        leads = margins_of(scores, given)
        return np.where(leads == np.inf, 1.0, np.interp(leads, self.margins, self.rates))

    def probabilities(self, scores: Array, given: Mask) -> Array:
        """Return float64[n_tokens, n_labels]: the probability of each label; rows sum to one.

        The predicted labels have together what `confidences` says, and the others share the rest in
        the proportions of the softmax. Parameters are those of confidences.
        """
        shares = softmax(scores, self.temperature)
        return with_share(shares, given, self.confidences(scores, given))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON has them."""
        return {**self._asdict(), "margins": list(self.margins), "rates": list(self.rates)}

    @classmethod
    def from_dict(cls, given: object) -> Calibration:
        """The calibration that a JSON object tells; ValueError where it tells none."""
        if not isinstance(given, Mapping):
            raise ValueError("not a JSON object")
        margins, rates = given["margins"], given["rates"]
        numbers = [given["temperature"], given["dictionary"], *margins, *rates]
        if any(type(x) not in (int, float) or not math.isfinite(x) for x in numbers):
            raise ValueError("something else than finite numbers")
        temperature, dictionary = float(numbers[0]), float(numbers[1])
        if temperature <= 0 or not 0 <= dictionary <= 1:
            raise ValueError("a number out of its range")
        if (
            not 0 < len(margins) == len(rates)
            or len(margins) > MOST_POINTS
            or any(b <= a for a, b in itertools.pairwise(margins))
        ):
            raise ValueError("a curve that is none")
        if any(not 0 <= rate <= 1 for rate in rates) or list(rates) != sorted(rates):
            raise ValueError("a curve that falls or leaves 0 to 1")
        return cls(temperature, tuple(map(float, margins)), tuple(map(float, rates)), dictionary)


# As long in a file as any calibration can be.
LONGEST = Calibration(_LONGEST, (_LONGEST,) * MOST_POINTS, (_LONGEST,) * MOST_POINTS, _LONGEST)


def rounded(x: float) -> float:
    """The number in six digits: short in a file, and the same on machines whose logarithms
    differ in the last bit."""
    return float(f"{x:.6g}")


def softmax(scores: Array, temperature: float) -> Array:
    """Return exp(scores / temperature), each row over its sum: float64[n_tokens, n_labels].

    Scores are minus infinity for impossible labels, with another one in each row.
    """
    import numpy as np

    with np.errstate(over="ignore"):
        powers = np.exp((scores - scores.max(axis=1, keepdims=True)) / temperature)
    shares: Array = powers / powers.sum(axis=1, keepdims=True)
    return shares


def margins_of(scores: Array, given: Mask) -> Array:
    """float64[n_words]: the best score of the labels given, less the best of all others.

    Infinity where there are no others. Exact where scores are multiples of a power of two, as
    those of a model are.
    """
    import numpy as np

    with np.errstate(over="ignore"):
        margins: Array = np.where(given, scores, -np.inf).max(axis=1) - np.where(
            given, -np.inf, scores
        ).max(axis=1)
    return margins


def best_of_many(scores: Array, given: Mask, most: int) -> tuple[Array, Mask]:
    """The highest scores of each row, at most so many, in no order, and which of them are given."""
    import numpy as np

    if scores.shape[1] <= most:
        return scores, given
    places = np.argpartition(scores, -most, axis=1)[:, -most:]
    return np.take_along_axis(scores, places, 1), np.take_along_axis(given, places, 1)


def share_of(shares: Array, given: Mask) -> Array:
    """float64[n_words]: what the labels given have together, at most 1."""
    import numpy as np

    found: Array = np.where(given, shares, 0.0).sum(axis=1)
    return np.minimum(found, 1.0)


def with_share(shares: Array, given: Mask, wanted: Array) -> Array:
    """Rows that sum to one, in which the labels given have together what is wanted.

    Both kinds keep their proportions; where one kind has nothing, it shares evenly. A row in which
    all labels are given stays as it is.
    """
    import numpy as np

    others: Mask = ~given
    result = np.where(given, _spread(shares, given, wanted), _spread(shares, others, 1 - wanted))
    return np.where(np.all(given, axis=1, keepdims=True), shares, result)


def _spread(shares: Array, mask: Mask, wanted: Array) -> Array:
    """Divide what is wanted of each row among the labels of a mask."""
    import numpy as np

    own = np.where(mask, shares, 0.0)
    sums = np.sum(own, axis=1, keepdims=True)
    parts: Array = mask / np.maximum(np.sum(mask, axis=1, keepdims=True), 1)
    np.divide(own, sums, out=parts, where=sums > 0)
    return parts * wanted[:, None]


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
    margins: Array, right: Mask, least: int
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the points of a rising curve from finite margins to accuracy.

    Each pool of tokens, of ``least`` at least if there are so many, is a point at its mean margin;
    (right + 1/2) / (all + 1) of it, as nothing is sure after a count.
    """
    pools = _pruned(_large_enough(rising(_runs(margins, right)), least), MOST_POINTS)
    points: dict[float, float] = {}
    highest = 0.0
    for hit, n, total in pools:
        highest = max(highest, rounded((hit + 0.5) / (n + 1)))
        points.setdefault(rounded(total / n), highest)
    return tuple(points), tuple(points.values())


def _runs(margins: Array, right: Mask) -> list[tuple[float, float, float]]:
    """Return the input of `rising`, neighboring margins at which all words are right, or all wrong,
    put together: a pool never ends between two alike, and these are most."""
    import numpy as np

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
