"""Evidence about labels: the same word elsewhere, and several opinions pooled into one.

A word that recurs with the same words around it and has another label there is either ambiguous or
wrong, and the longer the context, the less likely it is ambiguous (Dickinson and Meurers, 2003,
"Detecting errors in part-of-speech annotation").

The pool is the log-linear one of Hinton (2002, "Training products of experts by minimizing
contrastive divergence", section 2) with a weight for each expert: the probability of a label is
proportional to the exponential of a weighted sum of the experts' scores. With scores that were made
without the word at hand, the weights of greatest likelihood say how far to trust each expert, and
give scores without a unit the meaning of log-probabilities. On EWT with planted errors the pool
ranks better than any of its parts (docs/insight.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perceptron_nlp.probability import log_softmax

Floats = npt.NDArray[np.float64]

# Ten times as much and a tenth of it were no better on French and Greek with planted errors.
DOUBT = 0.01
_STEPS = 50
_HALVINGS = 30
# Weights are rounded to this: below it, machines differ in how they round.
_UNIT = 1024
# Keeps weights finite where every gold label is the likeliest one.
_RIDGE = 1e-3


def fit_pool(opinions: Floats, gold: npt.NDArray[np.int64]) -> Floats:
    """Return the weights of experts under which gold labels are likeliest, none of them below 0.

    Opinions are float64[n_words, n_choices, n_experts], gold labels places among the choices;
    weights are float64[n_experts], in steps of 1 / 1024.
    """
    heard = np.arange(opinions.shape[2])
    while True:
        weights = _fitted(opinions[..., heard], gold)
        if len(heard) == 1 or weights.min() >= 0:
            break
        # An expert who is believed the less the surer it is says nothing that others do not.
        heard = np.delete(heard, int(weights.argmin()))
    whole = np.zeros(opinions.shape[2])
    whole[heard] = np.maximum(weights, 0)
    return np.asarray(np.rint(whole * _UNIT) / _UNIT)


def hedged(opinions: Floats, scales: Floats) -> Floats:
    """Return opinions as log-probabilities, no label's below a share of DOUBT.

    So no expert outvotes the others alone: the best candidate is what they agree on. `scales`
    (float64[n_experts]) are the weights that each has alone (fit_pool).
    """
    alone = np.stack(
        [
            log_softmax(scale * opinions[..., expert])
            for expert, scale in enumerate(scales.tolist())
        ],
        axis=-1,
    )
    return np.asarray(np.log((1 - DOUBT) * np.exp(alone) + DOUBT / opinions.shape[1]))


def _fitted(opinions: Floats, gold: npt.NDArray[np.int64]) -> Floats:
    """The weights of greatest likelihood, by Newton's method."""
    n_words, _, n_experts = opinions.shape
    weights = np.zeros(n_experts)
    chosen = opinions[np.arange(n_words), gold]

    def value(at: Floats) -> float:
        logs = pooled(opinions, at)
        return float(logs[np.arange(n_words), gold].sum()) - _RIDGE * float(at @ at) / 2

    best = value(weights)
    for _ in range(_STEPS):
        shares = np.exp(pooled(opinions, weights))
        mean = np.einsum("wc,wce->we", shares, opinions)
        slope = (chosen - mean).sum(0) - _RIDGE * weights
        curve = (
            np.einsum("wc,wce,wcf->ef", shares, opinions, opinions)
            - np.einsum("we,wf->ef", mean, mean)
            + _RIDGE * np.eye(n_experts)
        )
        step = np.linalg.solve(curve, slope)
        # A whole step may lead too far where scores are large; the sum is concave, so that some
        # part of it leads upwards until the top is reached.
        for halving in range(_HALVINGS):
            tried = weights + step / 2**halving
            found = value(tried)
            if found > best:
                break
        else:
            break
        moved = float(np.abs(tried - weights).max())
        weights, best = tried, found
        if moved < 1 / (8 * _UNIT):
            break
    return weights


def pooled(opinions: Floats, weights: Floats) -> Floats:
    """float64[n_words, n_choices]: logarithms of the pool's probabilities."""
    summed = np.zeros(opinions.shape[:-1])
    for expert, weight in enumerate(weights.tolist()):
        summed += weight * opinions[..., expert]
    return log_softmax(summed)


# Words on either side that must be the same; the edge of a sentence is a word like others.
WIDTHS = (0, 1, 2)
# Weight of the next narrower context, or of all words, beside the counts of a context.
PRIOR = 1.0

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Contexts:
    """Numbers that are equal for words in the same context: int64[n_widths, n_words].

    Words have the same number in a row if they and their neighbors, as many on either side as
    WIDTHS says, are the same.
    """

    ids: Numbers

    @classmethod
    def of(cls, sentences: Sequence[Sequence[str]]) -> Contexts:
        """Of all words of sentences, one after the other."""
        reach = max(WIDTHS)
        numbers: dict[str, int] = {}
        padded = [-1] * reach
        places: list[int] = []
        for sentence in sentences:
            places += range(len(padded), len(padded) + len(sentence))
            padded += [numbers.setdefault(word, len(numbers)) for word in sentence]
            padded += [-1] * reach
        words, at = np.array(padded, np.int64), np.array(places, np.int64)
        ids = [words[at]]
        for width in range(1, reach + 1):
            # Numbers are below 2**31, so that two of them fit in one.
            sides = _renumbered((words[at - width] + 1) * (len(numbers) + 1) + words[at + width])
            ids.append(_renumbered(ids[-1] * len(at) + sides))
        return cls(np.array([ids[width] for width in WIDTHS]))


def _renumbered(values: Numbers) -> Numbers:
    """The same differences in numbers from 0."""
    found: Numbers = np.unique(values, return_inverse=True)[1].astype(np.int64)
    return found


class Variation:
    """Counts of labels in the context of each word, the word itself left out.

    Gold labels are int64[n_words], -1 for none; at least one word has one.
    """

    def __init__(self, contexts: Contexts, gold: npt.NDArray[np.int64], n_labels: int) -> None:
        self._ids = contexts.ids
        self._order = [np.argsort(ids, kind="stable") for ids in self._ids]
        self._gold = gold
        self._n_labels = n_labels
        known = self._gold >= 0
        self._all = np.bincount(self._gold[known], minlength=n_labels)
        self._pairs, self._counts, self._totals = [], [], []
        for ids in self._ids:
            pairs, counts = np.unique(ids[known] * n_labels + self._gold[known], return_counts=True)
            self._pairs.append(pairs)
            self._counts.append(counts)
            self._totals.append(np.bincount(ids[known], minlength=int(ids.max(initial=0)) + 1))

    def counts(self, width: int, words: Numbers, labels: Numbers) -> tuple[Numbers, Numbers]:
        """Count the other words in the same context that have a label, and any label.

        Words are int64[n], labels and the first counts int64[n, n_choices], the second int64[n];
        the width is a place in WIDTHS.
        """
        ids, own = self._ids[width][words], self._gold[words]
        wanted = ids[:, None] * self._n_labels + labels
        at = np.searchsorted(self._pairs[width], wanted)
        at[at == len(self._pairs[width])] = 0
        found = np.where(self._pairs[width][at] == wanted, self._counts[width][at], 0)
        return (found - (labels == own[:, None]), self._totals[width][ids] - (own >= 0))

    def first(self, width: int, word: int, label: int) -> int:
        """Return the first word in the context of another that has this label."""
        ids, order = self._ids[width], self._order[width]
        at = int(np.searchsorted(ids, ids[word], "left", sorter=order))
        while self._gold[order[at]] != label:
            at += 1
        return int(order[at])

    def log_shares(self, words: Numbers, labels: Numbers) -> npt.NDArray[np.float64]:
        """Return the logarithm of the share of each label in a word's context elsewhere.

        Shares in wide contexts start from those in narrower ones, PRIOR words of which are
        added (Dirichlet smoothing), those of the word alone from the shares of all labels.

        Parameters and the shape of what is returned are those of `counts`.
        """
        own = self._gold[words]
        rest = self._all[labels] - (labels == own[:, None]) + 1 / self._n_labels
        shares = rest / (len(self._gold) + 1)
        for width in range(len(WIDTHS)):
            found, total = self.counts(width, words, labels)
            shares = (found + PRIOR * shares) / (total + PRIOR)[:, None]
        return np.asarray(np.log(shares))
