"""What most languages treat alike in running text, counted: patterns, and marks about words.

Training counts how a treebank treats each kind (text/tagset.py); the core finds them, and does what
holds (patterns.h, cut.h).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from perceptron_nlp.tagger.tag.segment import marks_of, patterns_of
from perceptron_nlp.text.tagset import GOES_ON, NOTHING, SENTENCE


def count_patterns(
    text: str, words: Sequence[str], gaps: Sequence[str], labels: Sequence[str], single: str = ""
) -> dict[str, list[int]]:
    """Return how the labels of a text's atoms treat its patterns.

    words, gaps : its atoms, and what stands behind them
    """
    counts: dict[str, list[int]] = {}
    for kind, is_other in _treated(text, words, gaps, labels, single):
        own = counts.setdefault(kind, [0, 0])
        own[0] += 1
        own[1] += is_other
    return dict(sorted(counts.items()))


def _treated(
    text: str, words: Sequence[str], gaps: Sequence[str], labels: Sequence[str], single: str
) -> Iterator[tuple[str, bool]]:
    """Yield the kind of each pattern, and whether labels treat it in another way than most do."""
    for kind, begin, end in patterns_of(text, single):
        yield kind, any(label != GOES_ON for label in labels[begin : end - 1])
    for kind, at, ends_sentence in marks_of(text, single):
        if not ends_sentence:
            yield kind, labels[at] == (GOES_ON if gaps[at] == NOTHING else SENTENCE)
        # Of questions and cries in a row some make one sentence: that says nothing of others.
        elif words[at + 1] not in ("\u00a1", "\u00bf"):
            yield kind, labels[at] != SENTENCE
