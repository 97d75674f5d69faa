"""Compare two labelings of one gold text: which is better, where, and how significantly."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeAlias

from perceptron_nlp import Sentence, Tagger, load
from perceptron_nlp._checks import check_int
from perceptron_nlp._display import counted
from perceptron_nlp.analysis.differences import Change, Comparison, LabelDifference, Score
from perceptron_nlp.analysis.significance import Gold, Labels, mcnemar, span_counts, word_counts
from perceptron_nlp.errors import ArgumentError, FormatError, quote
from perceptron_nlp.formats import begins_like_tensors
from perceptron_nlp.tagger.gold import labels_note
from perceptron_nlp.tagger.sources import Labeled, Source, check_labeled, gold_labels
from perceptron_nlp.tagger.tagger import model_path
from perceptron_nlp.text.spans import spans_of
from perceptron_nlp.text.tagset import UNLABELED, is_span_column

System: TypeAlias = "Tagger | Labeled"
_CONTEXT = 4


def is_model_file(path: str | os.PathLike[str]) -> bool:
    """Return True if a file begins like a model, and not like text."""
    path = model_path(path)
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as handle:
            return begins_like_tensors(handle.read(9))
    except OSError:
        # Whoever reads it says what is wrong.
        return False


def compare(
    a: System,
    b: System,
    test: Labeled,
    *,
    column: str | None = None,
    format: str = "auto",
    fields: Sequence[str] | None = None,
    threads: int = 1,
    seed: int = 1,
) -> Comparison:
    """Compare two taggers, or two labelings, on gold text.

    Parameters
    ----------
    a, b : each a Tagger, the path of a model file, or the sentences of `test` as somebody has
        labeled them: a path, several, or labeled sentences (see ``perceptron_nlp.train``)
    test : the gold text, as a path, several, or labeled sentences
    column : the column to compare; None for what the models were trained on (the first that both
        have), or else what a training on `test` would learn. A column that is named is labeled by
        itself, as ``tag --column`` does; without, a model labels all its columns, as ``tag`` does
    format, fields : see ``perceptron_nlp.open_corpus``
    threads : 1 to 1,024 that tag
    seed : 0 to 2**64 - 1; for the random numbers of the tests

    Raises
    ------
    ArgumentError : the models are of different columns, or of another one than `column`
    FormatError : a labeling is not of the same words (file:line); a file breaks its format
    FileError, ModelError : a file cannot be read, or is damaged
    """
    check_int("seed", seed, 0, 2**64 - 1)
    systems = [_opened(a), _opened(b)]
    models = [system.model for system in systems if isinstance(system, Tagger)]
    how: dict[str, Any] = {
        "format": format,
        "fields": fields,
        "usual_fields": next(filter(None, (model.fields for model in models)), ()),
    }
    source = Source(test, "test", **how)
    name = source.column_named(_column_of(systems, source) if column is None else column)
    sentences = list(source)
    gold = [gold_labels(sentence, name) for sentence in sentences]
    n_labeled = sum(label is not None for labels in gold for label in labels)
    check_labeled(n_labeled, source, name)
    known = {label for labels in gold for label in labels}
    given, notes = [], []
    for argument, system in zip("ab", systems, strict=True):
        if isinstance(system, Tagger):
            part = system.by_column.get(name, system)
            _check_column(argument, part, name, known, source.column_names)
            wanted = system.columns if column is None else (part.column,)
            labels = system.tag_sents(sentences, threads=threads, columns=wanted)
            given.append(labels[part.column])
            note = labels_note(system.columns, wanted)
            notes += [f"{argument.upper()}: {note}"] if note else []
        else:
            given.append(labels_beside(Source(system, argument, **how), name, sentences))
    return _compared(sentences, name, gold, given[0], given[1], seed, tuple(notes))


def _opened(system: System) -> System:
    if isinstance(system, str | os.PathLike) and is_model_file(system):
        return load(system)
    return system


def _column_of(systems: Sequence[System], source: Source) -> str:
    taggers = [system for system in systems if isinstance(system, Tagger)]
    for tagger in taggers:
        tagger.labelers.check_tags()
    columns = [tagger.columns for tagger in taggers]
    shared = [name for name in columns[0] if name in columns[-1]] if columns else []
    if columns and not shared:
        raise ArgumentError(
            f"b: a tagger of {quote(', '.join(columns[-1]))}, but a is one of"
            f" {quote(', '.join(columns[0]))}; compare taggers of one column"
        )
    name = shared[0] if shared else source.default_column
    if name is None:
        raise ArgumentError(f"column: name the column of {source.place} to compare")
    return name


def _check_column(
    argument: str, tagger: Tagger, column: str, known: set[str | None], there: Sequence[str]
) -> None:
    """A name that differs may be one of the same column in another format; labels tell."""
    if tagger.column == column:
        return
    if tagger.column in there:
        raise ArgumentError(
            f"{argument}: a tagger of {quote(tagger.column)}, which cannot be"
            f" judged by column {quote(column)}"
        )
    if not known & tagger.model.written_labels:
        raise ArgumentError(
            f"{argument}: a tagger of {quote(tagger.column)}, none of whose labels stands in"
            f" column {quote(column)}"
        )


def _compared(
    sentences: Sequence[Sentence],
    column: str,
    gold: Gold,
    a: Labels,
    b: Labels,
    seed: int,
    notes: tuple[str, ...],
) -> Comparison:
    accuracy = Score.of(word_counts(gold, a), word_counts(gold, b), seed)
    truth, *given = (
        {label for row in labels if row for label in row if label is not None}
        for labels in (gold, a, b)
    )
    spans = all(map(is_span_column, (truth, *(truth | own for own in given))))
    f1 = Score.of(span_counts(gold, a), span_counts(gold, b), seed) if spans else None
    changes = _changes(sentences, gold, a, b)
    outcomes = Counter(change.outcome for change in changes)
    labeled = [sum(label is not None for label in labels) for labels in gold]
    return Comparison(
        column=column,
        sentences=sum(n > 0 for n in labeled),
        tokens=sum(labeled),
        unlabeled=sum(map(len, gold)) - sum(labeled),
        accuracy=accuracy,
        f1=f1,
        gained=outcomes["gained"],
        lost=outcomes["lost"],
        mcnemar=mcnemar(outcomes["gained"], outcomes["lost"]),
        labels=_by_label(*(_things(gold, labels, spans) for labels in (gold, a, b))),
        changes=changes,
        seed=seed,
        notes=notes,
    )


def _changes(sentences: Sequence[Sentence], gold: Gold, a: Labels, b: Labels) -> tuple[Change, ...]:
    found = []
    for number, (sentence, truths, of_a, of_b) in enumerate(
        zip(sentences, gold, a, b, strict=True), 1
    ):
        for i, (truth, label_a, label_b) in enumerate(zip(truths, of_a, of_b, strict=True)):
            if truth is not None and label_a != label_b:
                words = sentence.words
                found.append(
                    Change(
                        sentence.path,
                        sentence.line_of(i),
                        number,
                        i,
                        words[i],
                        truth,
                        label_a,
                        label_b,
                        words[max(0, i - _CONTEXT) : i],
                        words[i + 1 : i + 1 + _CONTEXT],
                    )
                )
    return tuple(found)


Thing = tuple[str, int, int, int]


def _things(gold: Gold, labels: Gold, spans: bool) -> set[Thing]:
    """The labels or spans of a text: (label, sentence, first word, word after the last)."""
    found: set[Thing] = set()
    for number, (truths, given) in enumerate(zip(gold, labels, strict=True)):
        if not spans:
            found.update(
                (label, number, i, i + 1)
                for i, label in enumerate(given)
                if label is not None and truths[i] is not None
            )
        elif None not in truths:
            found.update(
                (kind, number, start, end)
                for kind, start, end in spans_of([label for label in given if label is not None])
            )
    return found


def _by_label(gold: set[Thing], a: set[Thing], b: set[Thing]) -> dict[str, LabelDifference]:
    names = sorted({thing[0] for thing in gold | a | b})
    support, of_a, of_b, right_a, right_b, gained, lost = (
        Counter(thing[0] for thing in things)
        for things in (gold, a, b, a & gold, b & gold, (b - a) & gold, (a - b) & gold)
    )
    return {
        name: LabelDifference(
            support[name],
            _f1(right_a[name], of_a[name], support[name]),
            _f1(right_b[name], of_b[name], support[name]),
            gained[name],
            lost[name],
        )
        for name in names
    }


def _f1(right: int, given: int, gold: int) -> float:
    return 2 * right / (given + gold) if given + gold else 0.0


def labels_beside(source: Source, column: str, sentences: Sequence[Sentence]) -> list[list[str]]:
    """Return the labels of a text whose words are those of `sentences`, ``_`` for none."""
    found: list[list[str]] = []
    for sentence in source:
        if len(found) == len(sentences):
            raise FormatError(
                f"the text goes on here, but {_place(sentences[-1], -1)} ends the"
                f" {counted(len(sentences), 'sentence')} that it must agree with",
                *_where(sentence, 0),
            )
        _check_words(sentence, sentences[len(found)])
        labels = gold_labels(sentence, column)
        found.append([UNLABELED if label is None else label for label in labels])
    if len(found) < len(sentences):
        raise FormatError(
            f"ends after {counted(len(found), 'sentence')}, but {_place(sentences[len(found)], 0)}"
            " has another; both must hold the same sentences",
            source.place,
        )
    return found


def _check_words(sentence: Sentence, other: Sentence) -> None:
    if sentence.words == other.words:
        return
    mine, theirs = sentence.words, other.words
    at = next(
        (i for i, (word, wanted) in enumerate(zip(mine, theirs, strict=False)) if word != wanted),
        min(len(mine), len(theirs)),
    )
    if at < min(len(mine), len(theirs)):
        raise FormatError(
            f"the word {quote(mine[at])} stands where {_place(other, at)} has"
            f" {quote(theirs[at])}; both must hold the same words",
            *_where(sentence, at),
        )
    if at < len(mine):
        raise FormatError(
            f"the word {quote(mine[at])} stands where a sentence ends after {_place(other, -1)}",
            *_where(sentence, at),
        )
    raise FormatError(
        f"the sentence ends after {quote(mine[-1])}, but goes on with"
        f" {quote(theirs[at])} in {_place(other, at)}",
        *_where(sentence, -1),
    )


def _where(sentence: Sentence, index: int) -> tuple[str, int | None]:
    """Path and line of a word."""
    return sentence.path, sentence.line_of(index) or None


def _place(sentence: Sentence, index: int) -> str:
    path, line = _where(sentence, index)
    return path if line is None else f"{path}:{line}"
