"""What a text shows of words and endings: how often they had which label, and what that settles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from perceptron_nlp.tagger.model.settled import LONGEST_ENDING, Rule, endings_of, key_of
from perceptron_nlp.text.tagset import word_bytes

OPEN, RARE = -1, -2
"""In place of the number of a label; the second where something was met too rarely to say."""
Before: TypeAlias = tuple[str, ...]
"""Labels of a word in the columns before."""
Item: TypeAlias = tuple[str, bool, Before]
"""What a label hangs on: a word, whether it is the first of its sentence, the labels before."""
Numbers: TypeAlias = npt.NDArray[np.int64]
Truths: TypeAlias = npt.NDArray[np.bool_]
# Endings are counted in words that were met so often at most.
_RARELY = 10
_N_ENDINGS = LONGEST_ENDING + 1


class Met(NamedTuple):
    """By number what was met: how often, its most frequent label, and the share of that.

    The last one stands for all that was never met.
    """

    n: Numbers
    label: Numbers
    share: npt.NDArray[np.float64]

    @classmethod
    def of(
        cls, n_met: int, met: Sequence[int], labels: Sequence[int], counts: Sequence[int]
    ) -> Met:
        """Return what so many things show, by their labels; of labels as frequent the first."""
        n_labels = max(labels, default=0) + 1
        pairs, at = np.unique(
            np.array(met, np.int64) * n_labels + np.array(labels, np.int64), return_inverse=True
        )
        number, label = np.divmod(pairs, n_labels)
        count = np.bincount(at, counts, len(pairs)).astype(np.int64)
        order = np.lexsort((label, -count, number))
        first = order[np.flatnonzero(np.diff(number[order], prepend=-1))]
        total = np.bincount(number, count, n_met + 1).astype(np.int64)
        best = np.full(n_met + 1, OPEN)
        best[number[first]] = label[first]
        most = np.zeros(n_met + 1)
        most[number[first]] = count[first]
        return cls(total, best, most / np.maximum(total, 1))

    def settled(self, least: int, share: float) -> Numbers:
        """Return of each the label that a rule settles, OPEN or RARE."""
        if not least:
            return np.full(len(self.n), RARE)
        found = np.where(self.share >= share, self.label, OPEN)
        found[self.n < least] = RARE
        return found


class Found(NamedTuple):
    """Numbers of what was met of items.

    words : [n]
    endings : [n, 6], the longest first
    """

    words: Numbers
    endings: Numbers


class Counted:
    """What a text shows of a column.

    looks_first : endings of the first word of a sentence stand for themselves
    counts : of items and labels
    words, endings : what was met of words, and of endings (settled.endings_of), with labels before
    """

    def __init__(self, looks_first: bool, counts: Counter[tuple[str, bool, Before, int]]) -> None:
        self._looks_first = looks_first
        self.in_table = cache(self._in_table)  # it is asked of each rule many times
        self._word_numbers: dict[tuple[str, Before], int] = {}
        self._ending_numbers: dict[tuple[bytes, Before], int] = {}
        numbers: list[int] = []
        labels: list[int] = []
        n = [*counts.values()]
        for word, _, before, label in counts:
            numbers.append(self._word_numbers.setdefault((word, before), len(self._word_numbers)))
            labels.append(label)
        self.words = Met.of(len(self._word_numbers), numbers, labels, n)
        known = self._ending_numbers
        met: list[int] = []
        labels_met: list[int] = []
        times: list[int] = []
        totals = self.words.n.tolist()
        for (word, is_first, before, label), number, count in zip(counts, numbers, n, strict=True):
            if totals[number] <= _RARELY:
                own = endings_of(word, is_first and looks_first)
                met += [known.setdefault((ending, before), len(known)) for ending in own]
                labels_met += [label] * len(own)
                times += [count] * len(own)
        self.endings = Met.of(len(known), met, labels_met, times)

    def found(self, items: Iterable[Item]) -> Found:
        """Return what was met of items."""
        none = len(self._ending_numbers)
        words, endings = [], []
        for word, is_first, before in items:
            words.append(self._word_numbers.get((word, before), -1))
            own = endings_of(word, is_first and self._looks_first)
            endings += [self._ending_numbers.get((ending, before), none) for ending in own]
            endings += [none] * (_N_ENDINGS - len(own))
        return Found(np.array(words, np.int64), np.array(endings, np.int64).reshape(-1, _N_ENDINGS))

    def settled(self, rule: Rule, found: Found) -> tuple[Numbers, Numbers]:
        """Return the labels that a rule settles, or OPEN, and by which ending of each, -1 for none.

        What a word showed, rarely as it came, says more than its ending: where they differ, first
        in a sentence or not, it is open.
        """
        by_word = self.in_table(rule)[0][found.words]
        labels, ending = self._by_ending(rule, found.endings)
        shown = self.words.label[found.words]
        labels[(found.words >= 0) & (shown != labels)] = OPEN
        is_word = by_word != RARE
        return np.where(is_word, by_word, labels), np.where(is_word, -1, ending)

    def _by_ending(self, rule: Rule, endings: Numbers) -> tuple[Numbers, Numbers]:
        """Return the labels that endings settle, or OPEN, and which of them does."""
        own = self.endings.settled(rule.endings, rule.endings_share)[endings]
        at = (own != RARE).argmax(axis=1)
        labels = np.take_along_axis(own, at[:, None], axis=1)[:, 0]
        return np.where(labels == RARE, OPEN, labels), at

    @cached_property
    def _ways(self) -> list[Numbers]:
        """Endings of the words, as they are looked up in a sentence, and at its beginning."""
        keys = [*self._word_numbers]
        firsts = (False, True) if self._looks_first else (False,)
        return [
            self.found((word, first, before) for word, before in keys).endings for first in firsts
        ]

    @cached_property
    def _shorter(self) -> Numbers:
        """Of each ending the next shorter one, which was met as often at least; -1 for none."""
        shorter = []
        for ending, before in self._ending_numbers:
            start, tab, letters = ending.rpartition(b"\t")
            cut = word_bytes(letters.decode("utf-8", "surrogatepass")[1:])
            shorter.append(self._ending_numbers[start + tab + cut, before] if letters else -1)
        return np.array([*shorter, -1], np.int64)

    @cached_property
    def _keys(self) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
        """Keys of words, and of endings."""
        words = [key_of(word_bytes(word), before) for word, before in self._word_numbers]
        endings = [key_of(ending, before) for ending, before in self._ending_numbers]
        return np.array(words, np.uint32), np.array(endings, np.uint32)

    def _in_table(self, rule: Rule) -> tuple[Numbers, Truths]:
        """Return the labels that words settle, OPEN or RARE, and which words are in the table.

        Those of which their endings say it are not; the last one stands for all never met.
        """
        words = self.words.settled(rule.words, rule.words_share)
        shown = self.words.label
        differs, is_else = np.zeros((2, len(words)), bool)
        ways = [self._by_ending(rule, own)[0] for own in self._ways]
        for way in ways:
            is_else[:-1] |= (way != OPEN) & (way != shown[:-1])
        words[(words == RARE) & is_else] = OPEN
        for way in ways:
            differs[:-1] |= way != words[:-1]
        return words, (words != RARE) & differs

    def table(self, rule: Rule) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
        """Return keys, ascending, and of each the label + 1, or 0 if open.

        What shorter endings say, too, is left out.
        """
        endings = self.endings.settled(rule.endings, rule.endings_share)
        shorter = endings[self._shorter]
        says_more = (endings != RARE) & (endings != np.where(shorter == RARE, OPEN, shorter))
        words, is_put = self.in_table(rule)
        keys = [own[put[:-1]] for own, put in zip(self._keys, (is_put, says_more), strict=True)]
        labels = np.concatenate((words[is_put], endings[says_more])) + 1
        known, at = np.unique(np.concatenate(keys), return_inverse=True)
        low, high = np.full(len(known), len(known) and labels.max()), np.zeros(len(known), np.int64)
        np.minimum.at(low, at, labels)
        np.maximum.at(high, at, labels)
        return known, np.where(low == high, low, 0).astype(np.uint32)
