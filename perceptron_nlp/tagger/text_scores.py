"""Accuracy from running text: F1 of tokens, sentences, words and columns, on any two CoNLL-U files.

Both texts must be the same, white space left out. A token, word or sentence is found if its first
and last characters are. Words of multiword tokens have no places of their own: those of
overlapping multiword tokens are aligned by the longest common subsequence of their lower-cased
forms. A column counts for the aligned words; of FEATS, the universal ones. Source: D. Zeman et al.,
"CoNLL 2018 shared task: multilingual parsing from raw text to universal dependencies", section 5.
"""

from __future__ import annotations

import bisect
import itertools
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from perceptron_nlp._display import counted, points
from perceptron_nlp.errors import FormatError, quote
from perceptron_nlp.formats.conllu import running_text, surface
from perceptron_nlp.pages.renderers import Reported
from perceptron_nlp.pages.reports import Column, Report, Table
from perceptron_nlp.tagger.evaluation import Evaluation, Mistake
from perceptron_nlp.tagger.gold import Evaluations, mistakes_in
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.overlap import trained_on
from perceptron_nlp.tagger.sources import Labeled, Source, gold_labels
from perceptron_nlp.tagger.tag.text import TextSentence
from perceptron_nlp.text.sentence import Sentence

logger = logging.getLogger("perceptron_nlp")

UNIVERSAL_FEATURES = frozenset(
    [
        *("PronType", "NumType", "Poss", "Reflex", "Foreign", "Abbr", "Gender", "Animacy"),
        *("Number", "Case", "Definite", "Degree", "VerbForm", "Mood", "Tense", "Aspect", "Voice"),
        *("Evident", "Polarity", "Person", "Polite"),
    ]
)
_SCORES = (
    Column("metric"),
    *(Column(key, "percent") for key in ("precision", "recall", "f1", "aligned_accuracy")),
    Column("gold", "count"),
    *(Column(key, "data") for key in ("system", "correct", "aligned")),
)
METRICS = ("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "AllTags", "Lemmas")
_COLUMNS = ("upos", "xpos", "feats", "lemma")
_UPOS, _XPOS, _FEATS, _LEMMA = range(4)
_SAME: dict[str, Callable[[Sequence[str], Sequence[str]], bool]] = {
    "UPOS": lambda g, s: g[_UPOS] == s[_UPOS],
    "XPOS": lambda g, s: g[_XPOS] == s[_XPOS],
    "UFeats": lambda g, s: g[_FEATS] == s[_FEATS],
    "AllTags": lambda g, s: g[:_LEMMA] == s[:_LEMMA],
    # A treebank that gives no lemma to a word takes any.
    "Lemmas": lambda g, s: g[_LEMMA] in ("_", s[_LEMMA]),
}
_BY_COLUMN = dict(zip(_COLUMNS, ("UPOS", "XPOS", "UFeats", "Lemmas"), strict=True))


class F1(NamedTuple):
    """Counts of gold units, of the system's, and of those that are the same.

    Attributes
    ----------
    gold, system, correct : numbers of units
    aligned : of words with a label, how many were aligned; else None
    """

    gold: int
    system: int
    correct: int
    aligned: int | None = None

    @classmethod
    def pooled(cls, parts: Sequence[F1]) -> F1:
        """Return the counts of several texts, summed."""
        aligned = [part.aligned for part in parts if part.aligned is not None]
        return cls(
            sum(part.gold for part in parts),
            sum(part.system for part in parts),
            sum(part.correct for part in parts),
            sum(aligned) if aligned else None,
        )

    @property
    def precision(self) -> float:
        """Share of the system's units that are correct, 0 to 1."""
        return self.correct / self.system if self.system else 0.0

    @property
    def recall(self) -> float:
        """Share of the gold units that are found, 0 to 1."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, 0 to 1."""
        both = self.gold + self.system
        return 2 * self.correct / both if both else 0.0

    @property
    def aligned_accuracy(self) -> float | None:
        """Share of the aligned words whose label is correct, 0 to 1; None if none are aligned."""
        return None if self.aligned is None else self.correct / max(1, self.aligned)


Counts = tuple[int, int, int]
_Written = tuple[str, Sequence[tuple[str, tuple[str, ...]]], bool]
"""A token as it is written, its words, each its form and its columns, and if it is multiword."""


class _Word(NamedTuple):
    start: int
    end: int
    form: str
    is_multiword: bool
    columns: tuple[str, str, str, str]
    number: int


class TextScores(Reported, dict[str, F1]):
    """F1 by the names of METRICS.

    Attributes
    ----------
    columns : Evaluations of the aligned words, with mistakes; of FEATS, of universal features
    """

    def __init__(
        self,
        scores: Mapping[str, F1],
        columns: Evaluations,
        counted: Callable[[], dict[str, list[Counts]]] = dict,
    ) -> None:
        dict.__init__(self, scores)
        self.columns = columns
        self._counted = counted

    def by_sentence(self) -> dict[str, list[Counts]]:
        """Return (gold, system's, correct) units of each gold sentence, by metric.

        A unit of the system belongs to the sentence that it begins in. Sums are those of the
        metric.
        """
        counted = self._counted()
        return {name: counted[name] for name in self if name in counted}

    def report(self, *, everything: bool = False) -> Report:
        """Return F1 by metric, and the details of columns; see Evaluations."""
        rows = [
            (name, *(getattr(one, key) for key, *_ in _SCORES[1:])) for name, one in self.items()
        ]
        title = f"from text: {counted(self['Words'].gold, 'word')}, F1 {points(self['Words'].f1)}"
        parts = [self.columns.report(everything=everything)] if self.columns else []
        return Report(title, tables=[Table("scores", "", _SCORES, rows)], sections=parts)


class _Text(NamedTuple):
    """A text without white space, with the places of its parts in it."""

    characters: str
    tokens: list[tuple[int, int]]
    sentences: list[tuple[int, int]]
    words: list[_Word]


def text_scores(gold: Labeled, system: Labeled) -> TextScores:
    """Return the scores of a system's output by the names of the shared task, see METRICS.

    The columns are evaluated over the words that both have: see TextScores.

    Parameters
    ----------
    gold, system : CoNLL-U of one text: a path, several paths, or sentences that were read from it

    Raises
    ------
    FileError : a file cannot be read
    FormatError : one breaks its format or is not CoNLL-U, or the texts are not the same, white
        space left out
    """
    right = treebank(Source(gold, "gold"))
    return _scores(right, _read(map(_tokens, treebank(Source(system, "system")))))


def scores_from_text(
    source: Source, model: TaggerModel, tag: Callable[[str], Iterable[TextSentence]]
) -> TextScores:
    """Return how well running text is cut and labeled, by the names of METRICS.

    The text of a CoNLL-U source is put together from its tokens, spaces and paragraphs; ``tag``
    cuts and labels it. AllTags needs every column of tags that the source fills.

    Raises FormatError if the source breaks its format, is not CoNLL-U, or has no sentences.
    """
    gold, columns = treebank(source), model.columns
    if model.segmentation is None:
        logger.warning(
            "this model never learned to cut text, which is done as in English; models learn it"
            " with column text or all"
        )
    warning = trained_on(model.record, gold, source.place)
    if warning is not None:
        logger.warning("%s", warning)
    found = _read(map(_tagged_tokens, tag(running_text(gold)[0])))
    scores = _scores(gold, found)
    kept = {_BY_COLUMN[name] for name in columns if name in _BY_COLUMN}
    filled = [
        name
        for name in _COLUMNS[:3]
        if any(value != "_" for sentence in gold for value in sentence.columns.get(name, ()))
    ]
    if filled and {*filled} <= {*columns}:
        kept.add("AllTags")
    return TextScores(
        {name: f1 for name, f1 in scores.items() if f1.aligned is None or name in kept},
        Evaluations((name, own) for name, own in scores.columns.items() if name in columns),
        scores.by_sentence,
    )


def treebank(source: Source) -> list[Sentence]:
    """Return the sentences of CoNLL-U; FormatError for a source of another format, or of none."""
    sentences = list(source)
    if not sentences:
        raise FormatError("there are no sentences", source.place)
    if any(one.layout is None or one.layout.format != "conllu" for one in sentences):
        read_as = "".join(f" (read as {format})" for _, format in source.formats[:1])
        raise FormatError(
            f"not CoNLL-U{read_as}, which alone tells how tokens and sentences were written",
            source.place,
        )
    return sentences


def _scores(gold: Sequence[Sentence], found: _Text) -> TextScores:
    right = _read(map(_tokens, gold))
    if right.characters != found.characters:
        raise _difference(right, found, gold)
    pairs = _aligned(right.words, found.words)
    scores = {
        "Tokens": _spans(right.tokens, found.tokens),
        "Sentences": _spans(right.sentences, found.sentences),
        "Words": F1(len(right.words), len(found.words), len(pairs)),
    }
    for name, test in _SAME.items():
        correct = sum(test(g.columns, s.columns) for g, s in pairs)
        scores[name] = F1(len(right.words), len(found.words), correct, len(pairs))
    return TextScores(
        scores, Evaluations(_evaluations(gold, pairs)), partial(_by_sentence, right, found, pairs)
    )


def _by_sentence(
    gold: _Text, system: _Text, pairs: Sequence[tuple[_Word, _Word]]
) -> dict[str, list[Counts]]:
    """Return the counts of each gold sentence; see TextScores.by_sentence."""
    starts = [start for start, _ in gold.sentences]

    def counts(*units: Iterable[int]) -> list[Counts]:
        """Count gold units, the system's and correct ones, given where they start."""
        found = [Counter(bisect.bisect(starts, at) for at in places) for places in units]
        numbers = range(1, len(starts) + 1)
        return [(found[0][n], found[1][n], found[2][n]) for n in numbers]

    def spans(own: list[tuple[int, int]], other: list[tuple[int, int]]) -> list[Counts]:
        both = {*own} & {*other}
        return counts(*([start for start, _ in some] for some in (own, other, both)))

    words = [[word.start for word in text.words] for text in (gold, system)]
    found = {
        "Tokens": spans(gold.tokens, system.tokens),
        "Sentences": spans(gold.sentences, system.sentences),
        "Words": counts(*words, [g.start for g, _ in pairs]),
    }
    for name, test in _SAME.items():
        right = [g.start for g, s in pairs if test(g.columns, s.columns)]
        found[name] = counts(*words, right)
    return found


def _evaluations(
    gold: Sequence[Sentence], pairs: Sequence[tuple[_Word, _Word]]
) -> Iterator[tuple[str, Evaluation]]:
    """Yield the evaluation of each column that has labels on both sides, over aligned words."""
    of_word = {right.number: system.columns for right, system in pairs}
    ends = list(itertools.accumulate(len(sentence) for sentence in gold))
    for at, column in enumerate(_COLUMNS):
        sides = ({one.columns[at] for one in side} - {"", "_"} for side in zip(*pairs, strict=True))
        if not pairs or not all(sides):
            continue
        mistakes: list[Mistake] = []
        result = Evaluation(column, mistakes=mistakes)
        for sentence, end in zip(gold, ends, strict=True):
            first = end - len(sentence)
            own = [of_word.get(number) for number in range(first, end)]
            truth = [
                None if labels is None else label
                for label, labels in zip(_gold(sentence, column), own, strict=True)
            ]
            given = ["_" if labels is None else labels[at] or "_" for labels in own]
            kept = [i for i, labels in enumerate(own) if labels is not None]
            result.add(
                [truth[i] for i in kept],
                [given[i] for i in kept],
                itertools.repeat(False, len(kept)),
            )
            mistakes += mistakes_in([sentence], [truth], [given])
        yield column, result


def _gold(sentence: Sentence, column: str) -> Sequence[str | None]:
    """Return the gold labels of a sentence; of FEATS, the universal ones."""
    if column not in sentence.columns:
        return [None] * len(sentence)
    labels = gold_labels(sentence, column)
    return [_universal(label or "") or "_" for label in labels] if column == "feats" else labels


def _tokens(sentence: Sentence) -> Iterator[_Written]:
    """Yield the tokens of a sentence of CoNLL-U."""
    empty = ("_",) * len(sentence)
    rows = zip(*(sentence.columns.get(name, empty) for name in _COLUMNS), strict=True)
    text, tokens, _ = surface(sentence)
    for start, end, words in tokens:
        own = [(word, next(rows)) for word in words]
        yield text[start:end], own, words != (text[start:end],)


def _tagged_tokens(sentence: TextSentence) -> Iterator[_Written]:
    """Yield the tokens of a sentence that was cut and labeled."""
    for token in sentence.tokens:
        labels = [(word.form, word.labels) for word in token.words]
        rows = [(form, tuple(own.get(name, "_") for name in _COLUMNS)) for form, own in labels]
        yield token.form, rows, len(labels) > 1


def _read(sentences: Iterable[Iterable[_Written]]) -> _Text:
    pieces: list[str] = []
    tokens: list[tuple[int, int]] = []
    ends: list[tuple[int, int]] = []
    words: list[_Word] = []
    place = 0
    for sentence in sentences:
        first = place
        for written, own, is_multiword in sentence:
            form = "".join(written.split())
            pieces.append(form)
            span = (place, place + len(form))
            place = span[1]
            tokens.append(span)
            for word, (tag, fine, features, lemma) in own:
                row = (tag, fine, _universal(features), lemma)
                words.append(_Word(*span, word, is_multiword, row, len(words)))
        ends.append((first, place))
    return _Text("".join(pieces), tokens, ends, words)


def _universal(features: str) -> str:
    kept = [one for one in features.split("|") if one.partition("=")[0] in UNIVERSAL_FEATURES]
    return "|".join(sorted(kept))


def _spans(gold: list[tuple[int, int]], system: list[tuple[int, int]]) -> F1:
    return F1(len(gold), len(system), len(set(gold) & set(system)))


def _aligned(gold: list[_Word], system: list[_Word]) -> list[tuple[_Word, _Word]]:
    pairs: list[tuple[_Word, _Word]] = []
    g = s = 0
    while g < len(gold) and s < len(system):
        if gold[g].is_multiword or system[s].is_multiword:
            g, s, more = _multiword(gold, system, g, s)
            pairs += more
        elif gold[g][:2] == system[s][:2]:
            pairs.append((gold[g], system[s]))
            g, s = g + 1, s + 1
        elif gold[g].start <= system[s].start:
            g += 1
        else:
            s += 1
    return pairs


def _multiword(
    gold: list[_Word], system: list[_Word], g: int, s: int
) -> tuple[int, int, list[tuple[_Word, _Word]]]:
    """Align the words from g and s on that overlapping multiword tokens cover."""
    if gold[g].is_multiword:
        end = gold[g].end
        s += not system[s].is_multiword and system[s].start < gold[g].start
    else:
        end = system[s].end
        g += not gold[g].is_multiword and gold[g].start < system[s].start
    first_g, first_s = g, s
    while _reaches(gold, g, end) or _reaches(system, s, end):
        gold_first = s >= len(system) or (g < len(gold) and gold[g].start <= system[s].start)
        word = gold[g] if gold_first else system[s]
        if word.is_multiword:
            end = max(end, word.end)
        g, s = g + gold_first, s + (not gold_first)
    return g, s, _common(gold[first_g:g], system[first_s:s])


def _reaches(words: list[_Word], number: int, end: int) -> bool:
    """Return True if a word lies before an end, or its multiword token begins before it."""
    if number >= len(words):
        return False
    word = words[number]
    return word.start < end if word.is_multiword else word.end <= end


def _common(gold: list[_Word], system: list[_Word]) -> list[tuple[_Word, _Word]]:
    """Return the longest common subsequence of the lower-cased forms."""
    longest = [[0] * (len(system) + 1) for _ in range(len(gold) + 1)]
    for g in reversed(range(len(gold))):
        for s in reversed(range(len(system))):
            if gold[g].form.lower() == system[s].form.lower():
                longest[g][s] = longest[g + 1][s + 1] + 1
            else:
                longest[g][s] = max(longest[g + 1][s], longest[g][s + 1])
    pairs = []
    g = s = 0
    while g < len(gold) and s < len(system):
        if gold[g].form.lower() == system[s].form.lower():
            pairs.append((gold[g], system[s]))
            g, s = g + 1, s + 1
        elif longest[g][s] == longest[g + 1][s]:
            g += 1
        else:
            s += 1
    return pairs


def _difference(gold: _Text, system: _Text, sentences: Sequence[Sentence]) -> FormatError:
    """Return the error of two texts that are not the same, with the place in the gold text."""
    pairs = zip(gold.characters, system.characters, strict=False)
    place = next(
        (i for i, (a, b) in enumerate(pairs) if a != b),
        min(len(gold.characters), len(system.characters)),
    )
    number = sum(end <= place for _, end in gold.sentences[:-1])
    own, other = (text.characters[place : place + 20] for text in (gold, system))
    return FormatError(
        f"the texts differ, white space left out: after {place:,} characters {quote(own)} in the"
        f" gold text, {quote(other)} in the system's; both files must hold the same text",
        sentences[number].path,
        sentences[number].line_of(0) or None,
    )
