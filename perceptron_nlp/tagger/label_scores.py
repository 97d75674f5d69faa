"""Precision, recall and F1 of labels, of spans, and of features."""

from __future__ import annotations

import itertools
import operator
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from perceptron_nlp.tagger.model.label_components import NOTHING
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.text.tagset import is_span_column


@dataclass(frozen=True, slots=True)
class LabelScore:
    """Scores of one label; shares are fractions of 1, and 0 of nothing.

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
            share_of(right, given) or 0.0,
            share_of(right, gold) or 0.0,
            share_of(2 * right, given + gold) or 0.0,
            gold,
        )


@dataclass(slots=True)
class SpanScores:
    """Counts of spans by type, as conlleval counts them (CoNLL-2000 shared task).

    A span is correct if its type and both its ends are.

    gold, given, right : spans in the gold labels, in the predicted labels, and in both
    """

    gold: Counter[str] = field(default_factory=Counter)
    given: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)

    def add(self, gold: Sequence[str], given: Sequence[str]) -> None:
        """Count one sentence, given by the span labels of its tokens."""
        # Here, since few columns hold spans.
        from perceptron_nlp.text.spans import spans_of

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

    @property
    def by_type(self) -> dict[str, LabelScore]:
        """Scores of each type, in code point order."""
        return {
            kind: LabelScore.of(self.right[kind], self.given[kind], self.gold[kind])
            for kind in sorted(self.gold | self.given)
        }

    def update(self, other: SpanScores) -> None:
        """Count what another has counted, too."""
        self.gold.update(other.gold)
        self.given.update(other.given)
        self.right.update(other.right)


def feature_scores(confusion: Mapping[tuple[str, str], int]) -> dict[str, LabelScore]:
    """Return the scores of each feature by its name; none of labels that are no features."""
    labels = {label for pair in confusion for label in pair} - {NOTHING}
    if not labels or not all(map(_is_feature_set, labels)):
        return {}
    counts: dict[str, list[int]] = {}
    for pair, count in confusion.items():
        gold, given = map(_values, pair)
        for name in gold.keys() | given.keys():
            of_name = counts.setdefault(name, [0, 0, 0])
            of_name[0] += count * (gold.get(name) == given.get(name))
            of_name[1] += count * (name in given)
            of_name[2] += count * (name in gold)
    return {name: LabelScore.of(*counts[name]) for name in sorted(counts)}


def feature_errors(confusion: Mapping[tuple[str, str], int]) -> Counter[tuple[str, str, str]]:
    """Count the errors of each feature: (its name, gold value, predicted value), ``_`` for none."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for pair, count in confusion.items():
        gold, given = map(_values, pair)
        for name in gold.keys() | given.keys():
            values = gold.get(name, NOTHING), given.get(name, NOTHING)
            if values[0] != values[1]:
                counts[name, *values] += count
    return counts


def _is_feature_set(label: str) -> bool:
    pieces = (piece.partition("=") for piece in label.split("|"))
    return all(name and value for name, _, value in pieces)


def _values(label: str) -> dict[str, str]:
    """Return the values of a set of features by name."""
    if label == NOTHING:
        return {}
    return {piece.partition("=")[0]: piece.partition("=")[2] for piece in label.split("|")}


def span_scores(
    gold: Iterable[Sequence[str | None]], given: Iterable[Sequence[str]]
) -> SpanScores | None:
    """Empty counts where both columns hold span labels; None where spans mean nothing."""
    truth = {label for labels in gold for label in labels if label is not None}
    found = {label for labels in given for label in labels}
    return SpanScores() if is_span_column(truth) and is_span_column(truth | found) else None


def share_of(part: int, whole: int) -> float | None:
    """Return a part as a fraction of the whole; None of nothing."""
    return part / whole if whole else None


def share_right(
    gold: Iterable[Sequence[str | None]], given: Iterable[Sequence[str]], n_labeled: int
) -> float:
    """Evaluation.accuracy, where nothing else is wanted; `n_labeled` words have a gold label."""
    labels = itertools.chain.from_iterable
    right = sum(map(operator.eq, labels(gold), labels(given)))
    return share_of(right, n_labeled) or 0.0


def untrained_labels(
    model: TaggerModel, sentences: Iterable[Iterable[str]], gold: Iterable[Sequence[str | None]]
) -> Counter[str]:
    """Return how often each gold label comes up that a model of one column cannot give."""
    if model.lemmas is None:
        known = model.written_labels
        return Counter(
            label for labels in gold for label in labels if label is not None and label not in known
        )
    from perceptron_nlp.text.script_making import make_script
    from perceptron_nlp.text.scripts import parse_script, read_in

    alphabet = model.lemmas.alphabet
    scripts = [parse_script(label) for label in model.tags]
    # All that scripts do but for what they drop and add keeps the length.
    growths = [len(x.front + x.back) - x.drop_front - x.drop_back for x in scripts]
    pairs = (zip(*both, strict=True) for both in zip(sentences, gold, strict=True))
    found: Counter[str] = Counter()
    for (word, lemma), count in Counter(itertools.chain.from_iterable(pairs)).items():
        if lemma is None or str(make_script(word, lemma, alphabet)) in model.tags:
            continue
        grown = len(lemma) - len(read_in(word, alphabet))
        able = (x for x, own in zip(scripts, growths, strict=True) if own == grown or x.literal)
        if not any(one.apply(word, alphabet) == lemma for one in able):
            found[lemma] += count
    return found
