"""Evaluation of a tagger on labeled sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import NamedTuple

from perceptron_nlp._display import counted, percent, points
from perceptron_nlp.pages.renderers import Reported
from perceptron_nlp.pages.reports import Column, Figure, Report, Table
from perceptron_nlp.probability import Reliability
from perceptron_nlp.tagger.label_scores import (
    LabelScore,
    SpanScores,
    feature_errors,
    feature_scores,
    share_of,
)

# Neither right nor wrong; see Evaluation.outcomes.
_UNLABELED = 2
_COUNTS = (
    "sentences",
    "tokens",
    "unlabeled",
    "correct",
    "known_tokens",
    "known_correct",
    "correct_sentences",
)
SHOWN_LABELS, SHOWN_ERRORS = 40, 10
_SCORES = (
    Column("precision", "percent"),
    Column("recall", "percent"),
    Column("f1", "percent", "F1"),
    Column("support", "count"),
)
_BINS = (
    Column("low", "number", "from"),
    Column("high", "number", "to"),
    Column("tokens", "count"),
    Column("confidence", "percent", "mean"),
    Column("accuracy", "percent"),
)


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
class Evaluation(Reported):
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
    labeled : whose labels they are, of a tagger of several columns; see labels_note
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
    labeled: str = ""
    outcomes: bytearray = field(default_factory=bytearray, repr=False)

    def add(self, gold: Sequence[str | None], given: Sequence[str], known: Iterable[bool]) -> None:
        """Count one sentence: gold labels (None: no label), those given, and if training had it.

        Raises ValueError if these are not as many.
        """
        labeled = right = 0
        for truth, label, seen in zip(gold, given, known, strict=True):
            if truth is None:
                self.outcomes.append(_UNLABELED)
                continue
            labeled += 1
            hit = truth == label
            self.outcomes.append(hit)
            right += hit
            self.known_tokens += seen
            self.known_correct += seen and hit
            self.confusion[truth, label] += 1
        if self.spans is not None and labeled == len(gold):
            self.spans.add([truth for truth in gold if truth is not None], given)
        self.tokens += labeled
        self.correct += right
        self.unlabeled += len(gold) - labeled
        self.sentences += labeled > 0
        self.correct_sentences += labeled > 0 and right == labeled

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
        total.labeled = parts[0].labeled
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
            set(own) - {_UNLABELED} for own in zip(*(c.outcomes for c in columns), strict=True)
        ]
        return share_of(sum(own == {1} for own in outcomes), sum(map(bool, outcomes))) or 0.0

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

    @property
    def feature_errors(self) -> Counter[tuple[str, str, str]]:
        """How often each feature was confused: (name, gold value, predicted value), ``_`` for none.

        Of other columns than those of features, there are none.
        """
        return feature_errors(self.confusion) if self.features else Counter()

    def report(self, *, everything: bool = False) -> Report:
        """Return shares, and tables of spans, features, labels, errors and confidences.

        Parameters
        ----------
        everything : people see all labels and errors, not only the most frequent ones
        """
        unknown = self.tokens - self.known_tokens
        figures = [
            Figure("column", self.column, "data"),
            *self._span_figures(),
            Figure(
                "accuracy", self.accuracy, "percent", note=f"of {counted(self.tokens, 'token')}"
            ),
            Figure(
                "known_accuracy",
                self.known_accuracy,
                "percent",
                "known tokens",
                f"of {self.known_tokens:,}",
            ),
            Figure(
                "unknown_accuracy",
                self.unknown_accuracy,
                "percent",
                "unknown tokens",
                f"of {unknown:,}",
            ),
            Figure(
                "sentence_accuracy",
                self.sentence_accuracy,
                "percent",
                "sentences",
                f"of {self.sentences:,}",
            ),
            Figure("macro_f1", self.macro_f1, "percent", "macro F1"),
            *(Figure(name, getattr(self, name), "data") for name in _COUNTS[:3]),
        ]
        if not self.known_tokens:
            # Of another program's output nobody can tell which words it knew.
            figures = [one._replace(kind="data") if "known" in one.key else one for one in figures]
        if self.untrained:
            figures.append(Figure("untrained", dict(sorted(self.untrained.items())), "data"))
        if self.warnings:
            figures.append(Figure("warnings", self.warnings, "data"))
        if self.calibration is not None:
            figures.append(Figure("ece", self.calibration.ece, "number", "calibration error"))
        tables = [*self._score_tables(everything), *self._error_tables(everything)]
        return Report(self._line(), figures, tables, [*self._remarks()], main="labels")

    def _line(self) -> str:
        words = f"{percent(self.accuracy)} of {counted(self.tokens, 'word')}"
        if self.spans is not None:
            words = (
                f"F1 {points(self.spans.f1)} of {counted(self.spans.gold.total(), 'span')}"
                f" (precision {points(self.spans.precision)}, recall {points(self.spans.recall)});"
                f" {words}"
            )
        return f"{self.column}: {words} in {counted(self.sentences, 'sentence')}"

    def _span_figures(self) -> list[Figure]:
        if self.spans is None:
            return []
        return [
            Figure("f1", self.spans.f1, "percent", "F1 of spans"),
            Figure("precision", self.spans.precision, "percent"),
            Figure("recall", self.spans.recall, "percent"),
        ]

    def _score_tables(self, everything: bool) -> Iterator[Table]:
        """Yield the scores of spans, features and labels, the most frequent first."""
        if self.spans is not None:
            yield _score_table("spans", "type", self.spans.by_type, total=self.spans.total)
        if self.features:
            yield _score_table("features", "feature", self.features)
        labels = self.labels
        n_gold = sum(score.support > 0 for score in labels.values())
        limit = None if everything else min(n_gold, SHOWN_LABELS)
        yield _score_table("labels", "label", labels, limit)

    def _error_tables(self, everything: bool) -> Iterator[Table]:
        of_features = sorted((-count, *names) for names, count in self.feature_errors.items())
        if of_features:
            yield Table(
                "feature_errors",
                "most frequent errors of features",
                [Column("feature"), Column("gold"), Column("predicted"), Column("tokens", "count")],
                [(*names, -count) for count, *names in of_features],
                None if everything else SHOWN_ERRORS,
                MORE,
            )
        wrong = sorted(
            (-count, gold, given)
            for (gold, given), count in self.confusion.items()
            if gold != given and count
        )
        yield Table(
            "errors",
            "most frequent errors",
            [Column("gold"), Column("predicted"), Column("tokens", "count")],
            [(gold, given, -count) for count, gold, given in wrong],
            None if everything else SHOWN_ERRORS,
            MORE,
        )
        if self.calibration is not None:
            yield Table(
                "calibration",
                "confidences, and the accuracy of tokens that have them",
                _BINS,
                [astuple(part) for part in self.calibration.bins if part.count],
            )

    def _remarks(self) -> Iterator[str]:
        if self.unlabeled:
            yield f"{counted(self.unlabeled, 'token')} without a gold label left out"
        if self.untrained:
            named = " ".join(sorted(self.untrained))
            have = "has a label" if self.untrained.total() == 1 else "have labels"
            yield f"{counted(self.untrained.total(), 'token')} {have} not seen in training: {named}"
        if self.labeled:
            yield f"whose labels: {self.labeled}"


MORE = "--all shows more"


def _score_table(
    key: str,
    what: str,
    scores: Mapping[str, LabelScore],
    limit: int | None = None,
    total: LabelScore | None = None,
) -> Table:
    order = sorted(scores.items(), key=lambda item: (-item[1].support, item[0]))
    rows = [(name, *astuple(one)) for name, one in ([("all", total)] if total else []) + order]
    return Table(key, "", (Column(what), *_SCORES), rows, limit, MORE)
