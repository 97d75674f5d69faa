"""Evaluation of a tagger on labeled sentences."""

from __future__ import annotations

import itertools
import logging
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from perceptron_nlp._display import Tabular, counted, percent, points, printable
from perceptron_nlp.probability import Reliability
from perceptron_nlp.tagger.label_scores import (
    LabelScore,
    SpanScores,
    feature_scores,
    share_of,
    span_scores,
)
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.tag.lemmatize import ScriptLabels
from perceptron_nlp.tagger.train.data import trained_on
from perceptron_nlp.tagger.train.sources import Source, check_labelled, gold_labels
from perceptron_nlp.text.sentence import Sentence

logger = logging.getLogger("perceptron_nlp")

# Neither right nor wrong; see Evaluation.outcomes.
_UNLABELLED = 2
_COUNTS = (
    "sentences",
    "tokens",
    "unlabeled",
    "correct",
    "known_tokens",
    "known_correct",
    "correct_sentences",
)
_CONTEXT = 5
TABLE_COLUMNS = ("place", "column", "token", "gold", "predicted", "confidence", "before", "after")


class Mistake(NamedTuple):
    """A word that is labeled wrong.

    Attributes
    ----------
    path, line : where it stands; line 0 where that is no file
    token : the word
    gold, predicted : its labels
    confidence : in the predicted label, 0 to 1; None where the model is not calibrated
    before, after : up to five words on either side
    """

    path: str
    line: int
    token: str
    gold: str
    predicted: str
    confidence: float | None
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(slots=True)
class Evaluation(Tabular):
    """A tagger's labels against the gold ones. Words without a gold label do not count.

    Attributes
    ----------
    column : the column compared
    sentences : sentences with at least one gold label
    tokens : words with a gold label
    unlabeled : words without one
    correct : words labeled right
    known_tokens, known_correct : the same for words that were in the training text
    correct_sentences : sentences with every word right
    confusion : how often each (gold, given) pair of labels came up
    untrained : gold labels that the tagger does not have, so that no word of them can be right,
        and how often each came up
    calibration : None, or where it was asked for, whether the confidences of the words hold
    spans : None, or in a column of spans their counts; sentences with unlabeled words have none
    warnings : sentences that say why the figures may mean less than they seem to, such as that the
        text was trained on
    mistakes : None, or where they were asked for, the words labeled wrong; see Mistake
    outcomes : a byte for each word: 1 if it was labeled right, 0 if wrong, 2 without a gold label
    """

    column: str
    sentences: int = 0
    tokens: int = 0
    unlabeled: int = 0
    correct: int = 0
    known_tokens: int = 0
    known_correct: int = 0
    correct_sentences: int = 0
    confusion: Counter[tuple[str, str]] = field(default_factory=Counter)
    untrained: Counter[str] = field(default_factory=Counter)
    spans: SpanScores | None = None
    calibration: Reliability | None = None
    warnings: list[str] = field(default_factory=list)
    mistakes: list[Mistake] | None = field(default=None, repr=False)
    outcomes: bytearray = field(default_factory=bytearray, repr=False)

    def add(self, gold: Sequence[str | None], given: Sequence[str], known: Iterable[bool]) -> None:
        """Count one sentence: gold labels (None: no label), those given, and if training had it.

        Raises ValueError if these are not as many.
        """
        labelled = right = 0
        for truth, label, seen in zip(gold, given, known, strict=True):
            if truth is None:
                self.outcomes.append(_UNLABELLED)
                continue
            labelled += 1
            hit = truth == label
            self.outcomes.append(hit)
            right += hit
            self.known_tokens += seen
            self.known_correct += seen and hit
            self.confusion[truth, label] += 1
        if self.spans is not None and labelled == len(gold):
            self.spans.add([truth for truth in gold if truth is not None], given)
        self.tokens += labelled
        self.correct += right
        self.unlabeled += len(gold) - labelled
        self.sentences += labelled > 0
        self.correct_sentences += labelled > 0 and right == labelled

    @classmethod
    def pooled(cls, parts: Sequence[Evaluation]) -> Evaluation:
        """Return the counts of several evaluations of one column, summed.

        Parameters
        ----------
        parts : at least one; calibrations are left out
        """
        total = cls(parts[0].column)
        for part in parts:
            for name in _COUNTS:
                setattr(total, name, getattr(total, name) + getattr(part, name))
            total.confusion.update(part.confusion)
            total.untrained.update(part.untrained)
            total.outcomes += part.outcomes
            if part.spans is not None:
                total.spans = total.spans or SpanScores()
                total.spans.update(part.spans)
            if part.mistakes is not None:
                total.mistakes = [*(total.mistakes or []), *part.mistakes]
        total.warnings = list(dict.fromkeys(text for part in parts for text in part.warnings))
        return total

    @staticmethod
    def all_tags(columns: Iterable[Evaluation]) -> float:
        """Return the share of the words that are right in every column.

        Parameters
        ----------
        columns : of the same sentences; words without a gold label in any of them do not count

        Raises ValueError if they are not of as many words.
        """
        outcomes = [
            set(own) - {_UNLABELLED} for own in zip(*(c.outcomes for c in columns), strict=True)
        ]
        return share_of(sum(own == {1} for own in outcomes), sum(map(bool, outcomes))) or 0.0

    @staticmethod
    def mistakes_table(columns: Iterable[Evaluation]) -> str:
        """Return mistakes as a table: a heading, then a line each, separated by tabs.

        Column by column, the most frequent confusions come first, and of a confusion the mistakes
        that the tagger was surest of. Control characters are escaped as Python writes them.
        """
        lines = ["\t".join(TABLE_COLUMNS)]
        for evaluation in columns:
            mistakes = evaluation.mistakes or []
            counts = Counter((one.gold, one.predicted) for one in mistakes)
            for one in sorted(
                mistakes,
                key=lambda one: (
                    -counts[one.gold, one.predicted],
                    one.gold,
                    one.predicted,
                    -(one.confidence or 0.0),
                ),
            ):
                cells = (
                    f"{one.path}:{one.line}" if one.line else one.path,
                    evaluation.column,
                    one.token,
                    one.gold,
                    one.predicted,
                    "" if one.confidence is None else f"{one.confidence:.4f}",
                    " ".join(one.before),
                    " ".join(one.after),
                )
                lines.append("\t".join(map(printable, cells)))
        return "\n".join(lines) + "\n"

    @property
    def accuracy(self) -> float:
        """Share of the words labeled right, a fraction of 1."""
        return share_of(self.correct, self.tokens) or 0.0

    @property
    def known_accuracy(self) -> float | None:
        """The same among words of the training text; None if there are none."""
        return share_of(self.known_correct, self.known_tokens)

    @property
    def unknown_accuracy(self) -> float | None:
        """The same among words that were not in the training text; None if there are none."""
        return share_of(self.correct - self.known_correct, self.tokens - self.known_tokens)

    @property
    def sentence_accuracy(self) -> float:
        """Share of the sentences with every word right, a fraction of 1."""
        return share_of(self.correct_sentences, self.sentences) or 0.0

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

    @property
    def macro_f1(self) -> float:
        """Mean of the F1 of the labels that are in the gold data, each counted alike."""
        scores = [score.f1 for score in self.labels.values() if score.support]
        return sum(scores) / len(scores) if scores else 0.0

    @property
    def features(self) -> dict[str, LabelScore]:
        """Scores of each feature (``Case``, ``Gender``, …) of a column of features, by name.

        A word counts for a feature if it has a value of it; one that is right has the gold value.
        Of other columns than those of features, there are none.
        """
        return feature_scores(self.confusion)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each label that is in the gold data, the most frequent first."""
        scores = sorted(self.labels.items(), key=lambda item: (-item[1].support, item[0]))
        return [{"label": label, **asdict(score)} for label, score in scores if score.support]

    def to_dict(self) -> dict[str, Any]:
        """One JSON object with everything above but the confusion counts; see SpanScores too.

        ``features`` is there in a column of features, ``untrained`` where there are such labels,
        ``calibration`` where it was asked for. Mistakes have a table of their own.
        """
        features = {name: asdict(score) for name, score in self.features.items()}
        return {
            "column": self.column,
            **({} if self.spans is None else self.spans.to_dict()),
            "sentences": self.sentences,
            "tokens": self.tokens,
            "unlabeled": self.unlabeled,
            "accuracy": self.accuracy,
            "known_accuracy": self.known_accuracy,
            "unknown_accuracy": self.unknown_accuracy,
            "sentence_accuracy": self.sentence_accuracy,
            "macro_f1": self.macro_f1,
            "labels": {label: asdict(score) for label, score in self.labels.items()},
            **({"features": features} if features else {}),
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


def labels_note(columns: Sequence[str], labeled: Sequence[str]) -> str:
    """Return whose labels are judged, of a model of several columns; else nothing.

    Parameters
    ----------
    columns : that the model fills
    labeled : those of them that were labeled together
    """
    if len(columns) == 1:
        return ""
    if len(labeled) == 1:
        return f"column {labeled[0]} by itself, as tag --column {labeled[0]} writes it"
    return f"{', '.join(labeled)} together, as tag writes them"


def mistakes_in(
    sentences: Iterable[Sentence],
    gold: Iterable[Sequence[str | None]],
    predicted: Iterable[Sequence[str]],
    confidences: Iterable[Sequence[float]] | None = None,
) -> list[Mistake]:
    """Return the words whose label is not the gold one, in the order of the text."""
    labels = list(predicted)
    sure: Iterable[Sequence[float | None]] = (
        [[None] * len(own) for own in labels] if confidences is None else confidences
    )
    return [
        Mistake(
            sentence.path,
            sentence.line_of(i),
            sentence.words[i],
            truth,
            label,
            confidence,
            sentence.words[max(0, i - _CONTEXT) : i],
            sentence.words[i + 1 : i + 1 + _CONTEXT],
        )
        for sentence, truths, own, chances in zip(sentences, gold, labels, sure, strict=True)
        for i, (truth, label, confidence) in enumerate(zip(truths, own, chances, strict=True))
        if truth is not None and truth != label
    ]


def share_right(
    gold: Iterable[Sequence[str | None]], given: Iterable[Sequence[str]], n_labelled: int
) -> float:
    """Evaluation.accuracy, where nothing else is wanted; `n_labelled` words have a gold label."""
    labels = itertools.chain.from_iterable
    right = sum(map(operator.eq, labels(gold), labels(given)))
    return share_of(right, n_labelled) or 0.0


def compare(
    model: TaggerModel,
    source: Source,
    column: str,
    label: Callable[[list[Sequence[str]]], tuple[list[list[str]], list[list[float]] | None]],
    *,
    calibration: bool = False,
    mistakes: bool = False,
) -> Evaluation:
    """A model's labels against those of a column.

    Parameters
    ----------
    model : of one column
    source : the sentences
    column : the one with the gold labels
    label : gives sentences their labels, and confidences in them or None
    calibration : measure how far the confidences hold
    mistakes : keep the words labeled wrong

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
    if mistakes:
        result.mistakes = mistakes_in(sentences, gold, found, sure)
    if calibration and sure is not None:
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
    """Return how often each gold label comes up that a model of one column cannot give."""
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
