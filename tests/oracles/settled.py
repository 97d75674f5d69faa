"""What settles the label of a word, straight from the page of the model format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import xxhash

from oracles.word_views import lower, shape, text_hash


def key(text: str, before: Sequence[str]) -> int:
    found = xxhash.xxh64_intdigest(text.encode("utf-8", "surrogatepass"))
    for label in before:
        found = (found ^ text_hash(label)) * 0x9E3779B185EBCA87 % 2**64
        found ^= found >> 29
    return found >> 32


def settled(
    word: str, is_first: bool, before: Sequence[str], labels: Mapping[int, int]
) -> int | None:
    """The number of the label, or None; `labels` has by key the label + 1, or 0."""
    texts = [word]
    if len(word.encode("utf-8", "surrogatepass")) <= 64:
        low, start = lower(word), f"\t{'^' * is_first}{shape(word, 1)}\t"
        texts += [start + low[len(low) - k :] for k in range(min(5, len(low)), -1, -1)]
    found = next((labels[own] for own in (key(t, before) for t in texts) if own in labels), 0)
    return found - 1 if found else None
