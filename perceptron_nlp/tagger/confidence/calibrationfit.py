"""Which calibration suits a tagger: both kinds are fitted, and the better one is chosen.

Better is what gives the lower mean log loss, -log p of what happened (the label given is right, or
is wrong), on words that it was not fitted to: five folds of consecutive sentences.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perceptron_nlp.tagger.confidence.calibration import (
    Array,
    Calibration,
    Mask,
    curve_of,
    rounded,
    share_of,
    softmax,
)
from perceptron_nlp.tagger.confidence.reliability import Reliability

FOLDS = 5
# From fewer words, or fewer right or wrong ones, nothing can be said about shares.
LEAST_WORDS = 300
LEAST_OF_EACH = 5
# A point of a curve stands for so many words at least.
LEAST_IN_POINT = 30
# No loss is larger than that of something which was held to be so unlikely.
_UNLIKELY = 1e-6
# Temperatures are tried in octaves of the middle margin, from where they mostly are downhill, then
# in quarters around the best.
_FIRST, _LAST_STEP = -3, 12
_FINE = (-0.75, -0.5, -0.25, 0.25, 0.5, 0.75)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a tagger's labels for a dev set say about its scores.

    Attributes
    ----------
    margins, right, folds : float64, bool, int64[n_words]: by how much each label given leads, and
        is it right? To which of the five folds does its word belong?
    sample : int64[n_sampled], the numbers of some words, ascending
    scores, given : float64, bool[n_sampled, n_labels], of these: what labels scored (all, or the
        best of very many), and which count as the one given
    in_dictionary, right_in_dictionary : words whose label comes from the dictionary, which are
        not among the others
    """

    margins: Array
    right: Mask
    folds: npt.NDArray[np.int64]
    sample: npt.NDArray[np.int64]
    scores: Array
    given: Mask
    in_dictionary: int = 0
    right_in_dictionary: int = 0


@dataclass(frozen=True, slots=True)
class Fitted:
    """A calibration, and how good it is.

    Attributes
    ----------
    calibration : the chosen one
    losses : of each kind the mean log loss on words that it was not fitted to
    ece : the calibration error of the chosen kind on such words (reliability.py)
    """

    calibration: Calibration
    losses: dict[str, float]
    ece: float


def too_few(evidence: Evidence) -> str | None:
    """Why these words do not do for a calibration; None if they do."""
    n, n_right = len(evidence.right), int(evidence.right.sum())
    if n < LEAST_WORDS:
        return (
            f"{n:,} labelled words are too few to tell how sure labels are; {LEAST_WORDS} will do"
        )
    if not np.isfinite(evidence.margins).any():
        return "no word has two labels to choose from"
    for count, what in ((n - n_right, "wrong"), (n_right, "right")):
        if count < LEAST_OF_EACH:
            return (
                f"{count:,} of {n:,} words are labelled {what}, too few to tell how sure labels"
                f" are; {LEAST_OF_EACH} will do"
            )
    return None


def fit_calibration(evidence: Evidence) -> Fitted:
    """The calibration that suits, from evidence that is not too_few."""
    right, sample = evidence.right[evidence.sample], evidence.sample
    folds = evidence.folds[sample]
    tried = _temperatures(evidence)
    temperatures = sorted(tried)
    losses = np.array([_by_fold(_losses(tried[t], right), folds) for t in temperatures])
    whole = losses.sum(axis=1)
    best = temperatures[int(np.argmin(whole))]
    held_out = {"temperature": np.empty(len(sample)), "isotonic": np.empty(len(sample))}
    for fold in range(FOLDS):
        here = folds == fold
        chosen = temperatures[int(np.argmin(whole - losses[:, fold]))]
        held_out["temperature"][here] = tried[chosen][here]
        held_out["isotonic"][here] = _curve_without(evidence, fold)(evidence.margins[sample][here])
    means = {name: rounded(float(_losses(found, right).mean())) for name, found in held_out.items()}
    method = min(means, key=lambda name: (means[name], name == "isotonic"))
    finite = np.isfinite(evidence.margins)
    margins, rates = (
        curve_of(evidence.margins[finite], evidence.right[finite], LEAST_IN_POINT)
        if method == "isotonic"
        else ((), ())
    )
    # As if one word more had been seen, which is right as often as the others.
    dictionary = rounded(
        (evidence.right_in_dictionary + float(evidence.right.mean())) / (evidence.in_dictionary + 1)
    )
    return Fitted(
        Calibration(rounded(best), margins, rates, dictionary),
        means,
        rounded(Reliability.of(held_out[method], right).ece),
    )


def _temperatures(evidence: Evidence) -> dict[float, Array]:
    """The temperatures that are tried, each with the chances that it gives the sampled words."""
    leads = np.abs(evidence.margins[np.isfinite(evidence.margins)])
    unit = float(np.median(leads[leads > 0])) if leads.any() else 1.0
    right = evidence.right[evidence.sample]
    tried: dict[float, Array] = {}

    @functools.cache
    def loss_of(octave: float) -> float:
        temperature = rounded(unit * 2.0**octave)
        tried[temperature] = share_of(softmax(evidence.scores, temperature), evidence.given)
        return float(_losses(tried[temperature], right).sum())

    best = _FIRST
    for direction in (-1, 1):
        while abs(best - _FIRST) < _LAST_STEP and loss_of(best + direction) < loss_of(best):
            best += direction
    for step in _FINE:
        loss_of(best + step)
    return tried


def _curve_without(evidence: Evidence, fold: int) -> Callable[[Array], Array]:
    kept = (evidence.folds != fold) & np.isfinite(evidence.margins)
    if not kept.any():
        return lambda margins: np.full(len(margins), 0.5)
    xs, ys = curve_of(evidence.margins[kept], evidence.right[kept], LEAST_IN_POINT)
    return lambda margins: np.interp(margins, xs, ys)


def _losses(chances: Array, right: Mask) -> Array:
    """The log loss of each word."""
    happened = np.where(right, chances, 1 - chances)
    losses: Array = -np.log(np.maximum(happened, _UNLIKELY))
    return losses


def _by_fold(losses: Array, folds: npt.NDArray[np.int64]) -> Array:
    sums: Array = np.bincount(folds, losses, FOLDS).astype(np.float64)
    return sums
