"""The figures of a report on one column."""

from __future__ import annotations

import heapq
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from perceptron_nlp import Evaluation, Sentence, Tagger, WordExplanation
from perceptron_nlp.analysis.significance import (
    Counts,
    Gold,
    Interval,
    Labels,
    interval,
    resampled,
    span_counts,
    word_counts,
)
from perceptron_nlp.tagger.gold import judge, labels_note
from perceptron_nlp.tagger.sources import Source, gold_labels

LENGTHS = ((1, 5), (6, 10), (11, 15), (16, 20), (21, 30), (31, 50), (51, None))
WORST = 10
MAX_EXPLAINED = 6
SHOWN_FEATURES = 6
# Tokens of a pair of labels that are shown, with so many words on either side.
SHOWN_TOKENS = 15
_CONTEXT = 10
# Of fewer sentences, samples say little.
FEWEST = 10
_MIN_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Part:
    """The accuracy on a part: tokens with a gold label, and those of them that are correct.

    ``interval`` is the middle 95 % of resampled accuracies; None if there are too few sentences.
    """

    name: str
    tokens: int
    correct: int
    interval: Interval | None

    @property
    def accuracy(self) -> float | None:
        """The share that is correct, a fraction of 1; None where there are no tokens."""
        return self.correct / self.tokens if self.tokens else None

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, for JSON."""
        return {**asdict(self), "accuracy": self.accuracy}


@dataclass(frozen=True, slots=True)
class WorstSentence:
    """A sentence with many wrong tokens, their indices, and for the first of them the reasons.

    ``line`` is 0 if it is from no file; gold labels may be None.
    """

    path: str
    line: int
    words: tuple[str, ...]
    gold: Sequence[str | None]
    predicted: Sequence[str]
    wrong: tuple[int, ...]
    why: tuple[WordExplanation, ...]


class Occurrence(NamedTuple):
    """A token with a gold label, where it stands, and the words around it.

    ``line`` is 0 if it is from no file; ``confidence`` is in the predicted label, None where the
    model is not calibrated.
    """

    path: str
    line: int
    before: tuple[str, ...]
    token: str
    after: tuple[str, ...]
    confidence: float | None


class Change(NamedTuple):
    """Difference between two labels: the whole, or one feature, empty if there is none of it."""

    name: str
    old: str
    new: str


def changes(old: str, new: str, *, of_features: bool) -> tuple[Change, ...]:
    """Return what differs between two labels: of sets of features, each feature that does."""
    if not of_features:
        return (Change("", old, new),)
    before, after = (
        dict(piece.split("=", 1) for piece in label.split("|") if "=" in piece)
        for label in (old, new)
    )
    found = tuple(
        Change(name, before.get(name, ""), after.get(name, ""))
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    )
    return found or (Change("", old, new),)


@dataclass(frozen=True, slots=True)
class ColumnFigures:
    """The figures of one column.

    Attributes
    ----------
    f1_interval : of the F1 of spans; None in other columns
    by_length : accuracies on sentences of different lengths
    worst : the sentences with the most wrong tokens
    occurrences : by gold and predicted label, the tokens to show: mistakes with the highest
        confidence first, correct ones with the lowest
    epochs : the epochs in the training record; empty where it has none
    train_tokens : labeled tokens of the training text; None where that is not known
    seconds, threads : the time that tagging took in this run, after a round that was not timed, and
        the threads that tagged
    tagged_tokens : tokens tagged in that time
    """

    evaluation: Evaluation
    accuracy: Part
    known: Part
    unknown: Part
    f1_interval: Interval | None
    by_length: tuple[Part, ...]
    worst: tuple[WorstSentence, ...]
    occurrences: Mapping[tuple[str, str], Sequence[Occurrence]]
    epochs: list[dict[str, Any]]
    train_tokens: int | None
    seconds: float
    threads: int
    tagged_tokens: int

    @property
    def tokens_per_second(self) -> float:
        """Tokens tagged in a second of this run."""
        return self.tagged_tokens / self.seconds if self.seconds > 0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return Evaluation.to_dict, the confusion matrix, and the rest of the above, for JSON."""
        result = self.evaluation
        return {
            **result.to_dict(),
            "accuracy_interval": self.accuracy.interval,
            "f1_interval": self.f1_interval,
            "known": self.known.to_dict(),
            "unknown": self.unknown.to_dict(),
            "lengths": [part.to_dict() for part in self.by_length],
            "confusion": [
                [gold, predicted, count]
                for (gold, predicted), count in sorted(result.confusion.items())
            ],
            "epochs": self.epochs,
            "speed": {
                "tokens_per_second": self.tokens_per_second,
                "tokens": self.tagged_tokens,
                "seconds": self.seconds,
                "threads": self.threads,
            },
        }


Given = tuple[list[list[str]], list[list[float | None]] | None]
"""The labels of a column, and the confidences in them, as far as there are any."""


def labels_of(
    tagger: Tagger, source: Source, columns: Sequence[str], threads: int
) -> dict[str, Given]:
    """Return the labels of columns that are tagged together, by the tagger's names of them.

    Where some of the columns are not calibrated, a label of the others has a confidence unless they
    changed it.
    """
    names = [name for name in columns if name in tagger.columns] or [tagger.column]
    labels = tagger.tag_sents(source, threads=threads, columns=names)
    found: dict[str, Given] = {name: (own, None) for name, own in labels.items()}
    calibrated = [name for name in names if tagger.by_column[name].is_calibrated]
    if calibrated:
        sure = tagger.tag_sents(source, threads=threads, columns=calibrated, confidences=True)
        for name, (alone, chances) in sure.items():
            rows = [
                [x if a == b else None for a, b, x in zip(*own, strict=True)]
                for own in zip(labels[name], alone, chances, strict=True)
            ]
            found[name] = labels[name], rows
    return found


def column_figures(
    tagger: Tagger, source: Source, column: str, threads: int, found: Mapping[str, Given]
) -> ColumnFigures:
    """Compare labels of the sentences of a source that is held with the gold ones.

    `found` has the labels, see `labels_of`; how long they take is measured.
    """
    part = tagger.by_column.get(column) or tagger.by_column[tagger.column]
    predicted, sure = found[part.column]
    rounds, seconds = 0, 0.0

    def label(sentences: list[Sequence[str]]) -> Given:
        nonlocal rounds, seconds
        part.tag_sents(sentences, threads=threads)
        start = time.perf_counter()
        while seconds < _MIN_SECONDS:
            part.tag_sents(sentences, threads=threads)
            rounds, seconds = rounds + 1, time.perf_counter() - start
        return predicted, sure

    note = labels_note(tagger.columns, list(found))
    result = judge(part.model, source, column, label, calibration=True, labeled=note)
    sentences = list(source)
    gold = [list(gold_labels(sentence, column)) for sentence in sentences]
    parts = _parts(part, sentences, gold, predicted)
    record = part.model.record
    train = record.get("train")
    return ColumnFigures(
        evaluation=result,
        accuracy=parts[0],
        known=parts[1],
        unknown=parts[2],
        f1_interval=None if result.spans is None else _interval(span_counts(gold, predicted)),
        by_length=tuple(one for one in parts[3:] if one.tokens),
        worst=_worst(part, sentences, gold, predicted),
        occurrences=_occurrences(sentences, gold, predicted, sure),
        epochs=list(record.get("epochs") or []),
        train_tokens=train.get("labeled") if isinstance(train, dict) else None,
        seconds=seconds / rounds,
        threads=threads,
        tagged_tokens=sum(map(len, sentences)),
    )


def _parts(tagger: Tagger, sentences: list[Sentence], gold: Gold, predicted: Labels) -> list[Part]:
    """Return all tokens, known and unknown ones, and those in sentences of each length."""
    known = [tagger.model.known(sentence.words) for sentence in sentences]
    names = ["all", "known", "unknown"]
    kept: list[Gold] = [gold]
    for wanted in (True, False):
        kept.append(
            [
                [label if seen == wanted else None for label, seen in zip(row, marks, strict=True)]
                for row, marks in zip(gold, known, strict=True)
            ]
        )
    for low, high in LENGTHS:
        names.append(f"{low}+" if high is None else f"{low}–{high}")
        kept.append(
            [row if low <= len(row) <= (high or len(row)) else [None] * len(row) for row in gold]
        )
    counts = [word_counts(labels, predicted) for labels in kept]
    return [
        Part(name, int(count.gold.sum()), int(count.right.sum()), _interval(count))
        for name, count in zip(names, counts, strict=True)
    ]


def _interval(counts: Counts) -> Interval | None:
    """The percentile interval of the bootstrap over the sentences that count for something."""
    some = counts.gold + counts.given > 0
    if int(some.sum()) < FEWEST:
        return None
    return interval(
        resampled([Counts(counts.gold[some], counts.given[some], counts.right[some])])[0]
    )


def _occurrences(
    sentences: list[Sentence], gold: Gold, predicted: Labels, sure: list[list[float | None]] | None
) -> dict[tuple[str, str], list[Occurrence]]:
    found: defaultdict[tuple[str, str], list[tuple[float, int, int]]] = defaultdict(list)
    for k, (truths, labels) in enumerate(zip(gold, predicted, strict=True)):
        for i, (truth, label) in enumerate(zip(truths, labels, strict=True)):
            if truth is not None:
                confidence = (sure[k][i] if sure is not None else None) or 0.0
                found[truth, label].append((confidence if truth == label else -confidence, k, i))
    return {
        pair: [
            Occurrence(
                sentences[k].path,
                sentences[k].line_of(i),
                sentences[k].words[max(0, i - _CONTEXT) : i],
                sentences[k].words[i],
                sentences[k].words[i + 1 : i + 1 + _CONTEXT],
                None if sure is None else sure[k][i],
            )
            for _, k, i in heapq.nsmallest(SHOWN_TOKENS, own)
        ]
        for pair, own in found.items()
    }


def _worst(
    tagger: Tagger, sentences: list[Sentence], gold: Gold, predicted: Labels
) -> tuple[WorstSentence, ...]:
    """The sentences with the most wrong tokens; of equals the shorter ones, then the first."""
    wrong = [
        tuple(
            i
            for i, (truth, label) in enumerate(zip(row, labels, strict=True))
            if truth is not None and truth != label
        )
        for row, labels in zip(gold, predicted, strict=True)
    ]
    order = sorted(
        (i for i, indices in enumerate(wrong) if indices),
        key=lambda i: (-len(wrong[i]), len(gold[i]), i),
    )[:WORST]
    inputs, window = tagger.model.inputs(sentences), tagger.window
    found = []
    for i in order:
        explained = tagger.explain(
            inputs[i],
            before=inputs[max(0, i - window) : i],
            after=inputs[i + 1 : i + 1 + window],
            against=gold[i],
            top=SHOWN_FEATURES,
        )
        # On labels that the column has by itself; with others it may have agreed on another.
        reasons = [explained[k] for k in wrong[i] if explained[k].label == predicted[i][k]]
        found.append(
            WorstSentence(
                sentences[i].path,
                sentences[i].line_of(0),
                sentences[i].words,
                gold[i],
                predicted[i],
                wrong[i],
                tuple(reasons[:MAX_EXPLAINED]),
            )
        )
    return tuple(found)
