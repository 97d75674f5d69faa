"""What most languages treat alike in running text, counted: patterns, and marks about words.

Training counts how a treebank treats each kind (text/tagset.py); the core finds them, and does what
holds (patterns.h, cut.h).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from perceptron_nlp._core.text.cutter import TextAtoms
from perceptron_nlp.formats.conllu import Surface, surfaces
from perceptron_nlp.text.atoms import class_page
from perceptron_nlp.text.sentence import Sentence
from perceptron_nlp.text.tagset import GOES_ON, NOTHING, PATTERN_KINDS, SENTENCE, word_bytes

# Of the sentences of a text, if as many open a paragraph, so many are learned as one: dev parts of
# Arabic-PUD and Japanese-GSD lose tokens where it is six, or all.
_MOST_APART, _TOGETHER = 0.95, 3
_FEW_SPACES = 0.1  # for a token: fewer are those of a script without spaces


def in_paragraphs(sentences: Iterable[Sentence]) -> list[Surface]:
    """Return sentences as they stand in a text from which is learned where they end.

    Some make a paragraph if hardly one ends within a paragraph of its own, as in treebanks of
    sentences that were drawn one by one: nothing would be learned of where they end in others.
    Where words are written without spaces, every other sentence is, too.
    """
    found = surfaces(sentences)
    if sum(is_first for is_first, *_ in found) < _MOST_APART * len(found):
        return found
    n_spaces = sum(text.count(" ") for _, text, *_ in found)
    is_unspaced = n_spaces < _FEW_SPACES * sum(len(tokens) for *_, tokens, _ in found)
    return [
        (number % _TOGETHER == 0, text, tokens, is_glued or (is_unspaced and number % 2 == 0))
        for number, (_, text, tokens, is_glued) in enumerate(found)
    ]


def patterns_of(text: str, single: str = "") -> list[tuple[str, int, int]]:
    """Return the patterns of a text: the kind, the first atom, and the one behind the last."""
    found = TextAtoms(word_bytes(text), partial(class_page, single=single)).patterns()
    return [(PATTERN_KINDS[kind], begin, end) for kind, begin, end in found]


def marks_of(text: str, single: str = "") -> list[tuple[str, int, bool]]:
    """Return what marks say of a text's atoms: the kind, the atom, and what ends with that.

    It is a sentence, or a token and no sentence.
    """
    found = TextAtoms(word_bytes(text), partial(class_page, single=single)).marks()
    return [(PATTERN_KINDS[kind], at, ends_sentence) for kind, at, ends_sentence in found]


def matches_of(text: str, entries: Iterable[str], single: str = "") -> list[str]:
    """Return the column ``matches`` of a text's atoms: see matches.h."""
    atoms = TextAtoms(word_bytes(text), partial(class_page, single=single))
    return atoms.matches([word_bytes(word) for word in entries])


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
    within: set[int] = set()
    for kind, begin, end in patterns_of(text, single):
        within.update(range(begin, end - 1))
        yield kind, any(label != GOES_ON for label in labels[begin : end - 1])
    for at in range(1, len(words) - 1):
        is_joint = words[at] in "-\u2010\u2011" and gaps[at - 1] == gaps[at] == NOTHING
        if is_joint and words[at - 1][-1].isalpha() and words[at + 1][0].isalpha():
            yield "hyphen", (labels[at - 1] == GOES_ON) != (labels[at] == GOES_ON)
    marks = (mark for mark in marks_of(text, single) if mark[1] not in within)
    for kind, at, ends_sentence in marks:
        is_year = kind == "year"  # whose number counts with its full stop
        if not ends_sentence and not is_year:
            yield kind, labels[at] == (GOES_ON if gaps[at] == NOTHING else SENTENCE)
        # Of questions and cries in a row some make one sentence: that says nothing of others.
        elif ends_sentence and words[at + 1] not in ("\u00a1", "\u00bf"):
            is_whole = is_year and labels[at - 1] == GOES_ON
            yield kind, is_whole or labels[at] != SENTENCE
