"""What settles the label of a word: straight from the page of the model format, and by counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import xxhash

from oracles.word_views import lower, shape, text_hash
from perceptron_nlp.tagger.model.settled import Rule


def key(text: str, before: Sequence[str]) -> int:
    found = xxhash.xxh64_intdigest(text.encode("utf-8", "surrogatepass"))
    for label in before:
        found = (found ^ text_hash(label)) * 0x9E3779B185EBCA87 % 2**64
        found ^= found >> 29
    return found >> 32


def endings(word: str, is_first: bool) -> list[str]:
    if len(word.encode("utf-8", "surrogatepass")) > 64:
        return []
    low, start = lower(word), f"\t{'^' * is_first}{shape(word, 1)}\t"
    return [start + low[len(low) - k :] for k in range(min(5, len(low)), -1, -1)]


def settled(
    word: str, is_first: bool, before: Sequence[str], labels: Mapping[int, int]
) -> int | None:
    """The number of the label, or None; `labels` has by key the label + 1, or 0."""
    texts = [word, *endings(word, is_first)]
    found = next((labels[own] for own in (key(t, before) for t in texts) if own in labels), 0)
    return found - 1 if found else None


def settled_by_counts(
    counts: Counter[tuple[str, bool, tuple[str, ...], int]],
    rule: Rule,
    looks_first: bool,
    word: str,
    is_first: bool,
    before: tuple[str, ...],
) -> tuple[int, bool]:
    """The number of the label, or -1, by the counts of (word, first, before, label); is it an
    ending that settles it."""
    words: Counter[int] = Counter()
    times: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for (own, _, labels, label), n in counts.items():
        times[own, labels] += n
        if (own, labels) == (word, before):
            words[label] += n

    def said(met: Counter[int], least: int, share: float) -> int | None:
        if not least or sum(met.values()) < least:
            return None
        best = min(met, key=lambda one: (-met[one], one))
        return best if met[best] / sum(met.values()) >= share else -1

    found = said(words, rule.words, rule.words_share)
    if found is not None:
        return found, False

    def by_ending(where_first: bool) -> int:
        for ending in endings(word, where_first):
            met: Counter[int] = Counter()
            for (own, first, labels, label), n in counts.items():
                if labels == before and times[own, labels] <= 10:
                    met[label] += n * (ending in endings(own, first and looks_first))
            found = said(+met, rule.endings, rule.endings_share)
            if found is not None:
                return found
        return -1

    label = by_ending(is_first and looks_first)
    shown = min(words, key=lambda one: (-words[one], one)) if words else label
    elsewhere = [by_ending(first) for first in (False, True)[: 1 + looks_first]] if words else []
    is_open = label != shown or label < 0 or {*elsewhere} - {-1, shown}
    return (-1, False) if is_open else (label, True)
