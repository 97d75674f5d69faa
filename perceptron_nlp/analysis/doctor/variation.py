"""The labels that the same word has in the same surroundings elsewhere in a text.

After Dickinson and Meurers (2003, "Detecting errors in part-of-speech annotation"): a word that
recurs with the same words around it and is labelled otherwise there is either ambiguous or wrong,
and the longer the surroundings, the less likely it is ambiguous.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

# Words on either side that must be the same; the edge of a sentence is a word like others.
WIDTHS = (0, 1, 2)
# What surroundings one wider, or without any all words, weigh beside what was counted.
PRIOR = 1.0

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Which words have the same surroundings.

    Attributes
    ----------
    ids : int64[n_widths, n_words]: words have the same number in a row if they and their
        neighbours, as many on either side as WIDTHS says, are the same
    """

    ids: Numbers

    @classmethod
    def of(cls, sentences: Sequence[Sequence[str]]) -> Surroundings:
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
    """Counts of labels in the surroundings of each word, the word itself left out.

    Parameters
    ----------
    surroundings : of all words
    gold : int64[n_words]: their labels, -1 for none; at least one word has one
    n_labels : how many labels there are
    """

    def __init__(
        self, surroundings: Surroundings, gold: npt.NDArray[np.int64], n_labels: int
    ) -> None:
        self._ids = surroundings.ids
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
        """How often other words with these surroundings have a label, and any label.

        Parameters
        ----------
        width : a place in WIDTHS
        words : int64[n]: numbers of words
        labels : int64[n, n_candidates]

        Returns
        -------
        int64[n, n_candidates] and int64[n]
        """
        ids, own = self._ids[width][words], self._gold[words]
        wanted = ids[:, None] * self._n_labels + labels
        at = np.searchsorted(self._pairs[width], wanted)
        at[at == len(self._pairs[width])] = 0
        found = np.where(self._pairs[width][at] == wanted, self._counts[width][at], 0)
        return (found - (labels == own[:, None]), self._totals[width][ids] - (own >= 0))

    def first(self, width: int, word: int, label: int) -> int:
        """The first word that has the surroundings of another, and this label."""
        ids, order = self._ids[width], self._order[width]
        at = int(np.searchsorted(ids, ids[word], "left", sorter=order))
        while self._gold[order[at]] != label:
            at += 1
        return int(order[at])

    def log_shares(self, words: Numbers, labels: Numbers) -> npt.NDArray[np.float64]:
        """The logarithm of the share that each label has in a word's surroundings elsewhere.

        Shares in wide surroundings start from those in narrower ones, PRIOR words of which are
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
