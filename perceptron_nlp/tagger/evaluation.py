"""Evaluation of a tagger on labelled sentences."""

from __future__ import annotations

import itertools
import logging
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from perceptron_nlp._display import counted, percent, points
from perceptron_nlp.tagger.confidence.reliability import Reliability
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.tag.lemmatize import ScriptLabels
from perceptron_nlp.tagger.train.data import trained_on
from perceptron_nlp.tagger.train.sources import Source, check_labelled, gold_labels
from perceptron_nlp.text.spans import is_span_column, spans_of

logger = logging.getLogger("perceptron_nlp")


@dataclass(frozen=True, slots=True)
class LabelScore:
    """Scores of one label; shares are fractions of 1, and 0 of nothing.

    Attributes
    ----------
    precision : share of the tokens predicted to have the label that do
    recall : share of the tokens with the label that are predicted to have it
    f1 : harmonic mean of the two
    support : tokens with the label
    """

    precision: float
    recall: float
    f1: float
    support: int

    @classmethod
    def of(cls, right: int, given: int, gold: int) -> LabelScore:
        """Return the scores of what was counted: correct, predicted and gold."""
        return cls(
            _share(right, given) or 0.0,
            _share(right, gold) or 0.0,
            _share(2 * right, given + gold) or 0.0,
            gold,
        )


@dataclass(slots=True)
class SpanScores:
    """Counts of spans by type, as conlleval counts them (CoNLL-2000 shared task).

    A span is correct if its type and both its ends are.

    Attributes
    ----------
    gold, given, right : spans in the gold labels, in the predicted labels, and in both
    """

    gold: Counter[str] = field(default_factory=Counter)
    given: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)

    def add(self, gold: Sequence[str], given: Sequence[str]) -> None:
        """Count one sentence, given by the span labels of its tokens."""
        truth, found = set(spans_of(gold)), set(spans_of(given))
        self.gold.update(kind for kind, _, _ in truth)
        self.given.update(kind for kind, _, _ in found)
        self.right.update(kind for kind, _, _ in truth & found)

    @property
    def total(self) -> LabelScore:
        """Scores of all types together."""
        return LabelScore.of(self.right.total(), self.given.total(), self.gold.total())

    @property
    def precision(self) -> float:
        """Share of the predicted spans that is correct; 0 if none is predicted."""
        return self.total.precision

    @property
    def recall(self) -> float:
        """Share of the gold spans that is found; 0 if there are none."""
        return self.total.recall

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return self.total.f1

    def to_dict(self) -> dict[str, Any]:
        """Return ``precision``, ``recall``, ``f1``, and in ``spans`` the scores by type."""
        total = asdict(self.total)
        del total["support"]
        by_type = {
            kind: asdict(LabelScore.of(self.right[kind], self.given[kind], self.gold[kind]))
            for kind in sorted(self.gold | self.given)
        }
        return {**total, "spans": by_type}


@dataclass(slots=True)
class Evaluation:
    """A tagger's labels against the gold ones. Words without a gold label do not count.

    Attributes
    ----------
    column : the column compared
    sentences : sentences with at least one gold label
    tokens : words with a gold label
    unlabelled : words without one
    correct : words labelled right
    known_tokens, known_correct : the same for words that were in the training text
    correct_sentences : sentences with every word right
    confusion : how often each (gold, given) pair of labels came up
    untrained : gold labels that the tagger does not have, so that no word of them can be right,
        and how often each came up
    calibration : None, or where it was asked for, whether the confidences of the words hold
    spans : None, or in a column of spans their counts; sentences with unlabelled words have none
    warnings : sentences that say why the figures may mean less than they seem to, such as that the
        text was trained on
    """

    column: str
    sentences: int = 0
    tokens: int = 0
    unlabelled: int = 0
    correct: int = 0
    known_tokens: int = 0
    known_correct: int = 0
    correct_sentences: int = 0
    confusion: Counter[tuple[str, str]] = field(default_factory=Counter)
    untrained: Counter[str] = field(default_factory=Counter)
    spans: SpanScores | None = None
    calibration: Reliability | None = None
    warnings: list[str] = field(default_factory=list)

    def add(self, gold: Sequence[str | None], given: Sequence[str], known: Iterable[bool]) -> None:
        """Count one sentence: gold and given labels, and whether each word was in training."""
        labelled = right = 0
        for truth, label, seen in zip(gold, given, known, strict=True):
            if truth is None:
                continue
            labelled += 1
            hit = truth == label
            right += hit
            self.known_tokens += seen
            self.known_correct += seen and hit
            self.confusion[truth, label] += 1
        if self.spans is not None and labelled == len(gold):
            self.spans.add([truth for truth in gold if truth is not None], given)
        self.tokens += labelled
        self.correct += right
        self.unlabelled += len(gold) - labelled
        self.sentences += labelled > 0
        self.correct_sentences += labelled > 0 and right == labelled

    @property
    def accuracy(self) -> float:
        """Share of the words labelled right, a fraction of 1."""
        return _share(self.correct, self.tokens) or 0.0

    @property
    def known_accuracy(self) -> float | None:
        """The same among words of the training text; None if there are none."""
        return _share(self.known_correct, self.known_tokens)

    @property
    def unknown_accuracy(self) -> float | None:
        """The same among words that were not in the training text; None if there are none."""
        return _share(self.correct - self.known_correct, self.tokens - self.known_tokens)

    @property
    def sentence_accuracy(self) -> float:
        """Share of the sentences with every word right, a fraction of 1."""
        return _share(self.correct_sentences, self.sentences) or 0.0

    @property
    def labels(self) -> dict[str, LabelScore]:
        """Scores of every label that was in the gold data or was given, in code point order."""
        gold: Counter[str] = Counter()
        given: Counter[str] = Counter()
        for (truth, label), count in self.confusion.items():
            gold[truth] += count
            given[label] += count
        return {
            label: LabelScore.of(self.confusion[label, label], given[label], gold[label])
            for label in sorted(gold.keys() | given.keys())
        }

    def to_dict(self) -> dict[str, Any]:
        """One JSON object with everything above but the confusion counts; see SpanScores too.

        ``untrained`` is there where there are such labels, ``calibration`` where it was asked for.
        """
        return {
            "column": self.column,
            **({} if self.spans is None else self.spans.to_dict()),
            "sentences": self.sentences,
            "tokens": self.tokens,
            "unlabelled": self.unlabelled,
            "accuracy": self.accuracy,
            "known_accuracy": self.known_accuracy,
            "unknown_accuracy": self.unknown_accuracy,
            "sentence_accuracy": self.sentence_accuracy,
            "labels": {label: asdict(score) for label, score in self.labels.items()},
            **({"untrained": dict(sorted(self.untrained.items()))} if self.untrained else {}),
            **({"warnings": self.warnings} if self.warnings else {}),
            **({} if self.calibration is None else {"calibration": self.calibration.to_dict()}),
        }

    def __str__(self) -> str:
        words = f"{percent(self.accuracy)} of {self.tokens:,} words"
        if self.spans is not None:
            words = (
                f"F1 {points(self.spans.f1)} of {counted(self.spans.gold.total(), 'span')}"
                f" (precision {points(self.spans.precision)}, recall {points(self.spans.recall)});"
                f" {words}"
            )
        return f"{self.column}: {words} in {self.sentences:,} sentences"


def share_right(
    gold: Iterable[Sequence[str | None]], given: Iterable[Sequence[str]], n_labelled: int
) -> float:
    """Evaluation.accuracy, where nothing else is wanted; `n_labelled` words have a gold label."""
    labels = itertools.chain.from_iterable
    right = sum(map(operator.eq, labels(gold), labels(given)))
    return _share(right, n_labelled) or 0.0


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def compare(
    model: TaggerModel,
    source: Source,
    column: str,
    label: Callable[[list[Sequence[str]]], tuple[list[list[str]], list[list[float]] | None]],
) -> Evaluation:
    """A model's labels against those of a column.

    Parameters
    ----------
    model : of one column
    source : the sentences
    column : the one with the gold labels
    label : gives sentences their labels, and confidences in them or None

    Raises FormatError where a file breaks its format, or no word has a gold label.
    """
    sentences = list(source)
    gold = [gold_labels(sentence, column) for sentence in sentences]
    found, sure = label(model.inputs(sentences))
    result = Evaluation(
        column, spans=span_scores(gold, found), untrained=untrained_labels(model, sentences, gold)
    )
    for sentence, truth, given in zip(sentences, gold, found, strict=True):
        result.add(truth, given, map(model.knows, sentence.words))
    check_labelled(result.tokens, source, column)
    warning = trained_on(model.record, sentences, source.place)
    if warning is not None:
        result.warnings.append(warning)
        logger.warning("%s", warning)
    if sure is not None:
        words = [
            (x, truth == own)
            for truths, labels, confidences in zip(gold, found, sure, strict=True)
            for truth, own, x in zip(truths, labels, confidences, strict=True)
            if truth is not None
        ]
        result.calibration = Reliability.of([x for x, _ in words], [hit for _, hit in words])
    return result


def untrained_labels(
    model: TaggerModel, sentences: Iterable[Iterable[str]], gold: Iterable[Sequence[str | None]]
) -> Counter[str]:
    """Return how often each gold label comes up that a model of one column cannot give.

    Of lemmas these are the ones that no edit script of the model makes of their words.
    """
    if model.lemmas is None:
        known = model.written_labels
        return Counter(
            label for labels in gold for label in labels if label is not None and label not in known
        )
    scripts = ScriptLabels(model.tags, model.lemmas.turkic)
    words = Counter(
        (word, lemma)
        for sentence, lemmas in zip(sentences, gold, strict=True)
        for word, lemma in zip(sentence, lemmas, strict=True)
        if lemma is not None
    )
    found: Counter[str] = Counter()
    for (word, lemma), count in words.items():
        if not scripts.makes(word, lemma):
            found[lemma] += count
    return found


def span_scores(
    gold: Iterable[Sequence[str | None]], given: Iterable[Sequence[str]]
) -> SpanScores | None:
    """Empty counts where both columns hold span labels; None where spans mean nothing."""
    truth = {label for labels in gold for label in labels if label is not None}
    found = {label for labels in given for label in labels}
    return SpanScores() if is_span_column(truth) and is_span_column(truth | found) else None
