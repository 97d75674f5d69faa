"""What a text shows of words and endings: how often they had which label, and what that settles."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from perceptron_nlp.tagger.model.settled import Rule, endings_of, key_of
from perceptron_nlp.text.tagset import word_bytes

OPEN = -1
"""In place of the number of a label."""
Before: TypeAlias = tuple[str, ...]
"""Labels of a word in the columns before."""
# Endings are counted in words that were met so often at most.
_RARE = 10


class Met(NamedTuple):
    """How often something was met, its most frequent label, and the share of that."""

    n: int
    label: int
    share: float

    @classmethod
    def of(cls, counts: Counter[int]) -> Met:
        """Return what was met; of labels that are as frequent the first."""
        label = min(counts, key=lambda one: (-counts[one], one))
        total = counts.total()
        return cls(total, label, counts[label] / total)

    def settles(self, least: int, share: float) -> int | None:
        """Return the label that a rule settles, or OPEN; None if it was met too rarely."""
        if not least or self.n < least:
            return None
        return self.label if self.share >= share else OPEN


def settled_by(rule: Rule, word: Met | None, endings: Iterable[Met]) -> tuple[int, bool]:
    """Return the label that a rule settles, or OPEN; and whether an ending does.

    What a word showed, rarely as it came, says more than its ending: where they differ it is open.
    """
    label = word and word.settles(rule.words, rule.words_share)
    if label is not None:
        return label, False
    ways = (met.settles(rule.endings, rule.endings_share) for met in endings)
    label = next((label for label in ways if label is not None), OPEN)
    return (label if word is None or word.label == label else OPEN), True


class Counted(NamedTuple):
    """What a text shows of a column.

    looks_first : endings of the first word of a sentence stand for themselves
    words : by word and labels before
    endings : by ending (settled.endings_of) and labels before
    """

    looks_first: bool
    words: dict[tuple[str, Before], Met]
    endings: dict[tuple[bytes, Before], Met]

    @classmethod
    def of(cls, looks_first: bool, items: Counter[tuple[str, bool, Before, int]]) -> Counted:
        """Return what items show: a word, is it the first of its sentence, labels before, label."""
        words: dict[tuple[str, Before], Counter[int]] = defaultdict(Counter)
        endings: dict[tuple[bytes, Before], Counter[int]] = defaultdict(Counter)
        for (word, _, before, label), count in items.items():
            words[word, before][label] += count
        totals = {key: own.total() for key, own in words.items()}
        for (word, is_first, before, label), count in items.items():
            if totals[word, before] <= _RARE:
                for ending in endings_of(word, is_first and looks_first):
                    endings[ending, before][label] += count
        return cls(
            looks_first,
            {key: Met.of(own) for key, own in words.items()},
            {key: Met.of(own) for key, own in endings.items()},
        )

    def met(self, word: str, is_first: bool, before: Before) -> tuple[Met | None, list[Met]]:
        """Return what was met of a word, and of its endings, the longest first."""
        endings = endings_of(word, is_first and self.looks_first)
        found = (self.endings.get((ending, before)) for ending in endings)
        return self.words.get((word, before)), [met for met in found if met is not None]

    def table(self, rule: Rule) -> dict[int, int]:
        """Return by key the label + 1, or 0 if open; without what shorter endings say, too."""
        found: dict[int, int] = {}

        def put(text: bytes, before: Before, label: int) -> None:
            key = key_of(text, before)
            found[key] = label + 1 if found.get(key, label + 1) == label + 1 else 0

        for (ending, before), met in self.endings.items():
            label = met.settles(rule.endings, rule.endings_share)
            if label is not None and label != self._shorter(ending, before, rule):
                put(ending, before, label)
        for (word, before), met in self.words.items():
            ways = [self.met(word, first, before)[1] for first in {False, self.looks_first}]
            by_ending = {settled_by(rule, None, endings)[0] for endings in ways}
            label = met.settles(rule.words, rule.words_share)
            if label is None and not by_ending <= {OPEN, met.label}:
                label = OPEN
            if label is not None and by_ending != {label}:
                put(word_bytes(word), before, label)
        return found

    def _shorter(self, ending: bytes, before: Before, rule: Rule) -> int:
        """Return what the next shorter ending settles, which was met as often at least."""
        start, tab, letters = ending.rpartition(b"\t")
        if not letters:
            return OPEN
        shorter = letters.decode("utf-8", "surrogatepass")[1:]
        met = self.endings[start + tab + word_bytes(shorter), before]
        label = met.settles(rule.endings, rule.endings_share)
        return OPEN if label is None else label
