"""Confidences of a calibrated model in the labels that it gives.

A constrained label has 1; one from the tag dictionary has the accuracy of the dictionary on the dev
set. For all others, all learned labels that are written like the predicted one count as predicted:
of features, those with any part of speech; of spans, those that differ in the letter before the
type alone. Labels that a lexicon forbids count for nothing. Those that would be illegal beside the
labels around the word do count: where spans begin and end is mostly wrong in several words at once,
and it is the illegal labels that tell (on chunks the log loss is 0.13 with them, 0.19 without).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from perceptron_nlp.tagger.confidence.calibration import Array, Mask
from perceptron_nlp.tagger.model.label_components import forms_of
from perceptron_nlp.tagger.model.model import TaggerModel, calibration_of
from perceptron_nlp.tagger.tag.agree import AgreeingColumns, Keeps, Scored
from perceptron_nlp.tagger.tag.constraints import Keep, Lexicon, allowed_by, lower_cased, with_kept
from perceptron_nlp.tagger.tag.label import Labeller
from perceptron_nlp.tagger.tag.lemmatize import ScriptLabels

T = TypeVar("T")
# Scripts of a word that are looked at one by one.
_BEST_SCRIPTS = 8
Numbers = npt.NDArray[np.int64]


class LabelView:
    """Labels of a model of one column that count as one, and those that are possible at a token."""

    def __init__(self, model: TaggerModel, lexicon: Lexicon | None) -> None:
        names = [forms_of(label, model.scheme)[-1] for label in model.tags]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        # One more, for a kept label that the model does not have.
        self._groups = np.array([*map(numbers.__getitem__, names), -1], np.int64)
        self._labels = (*model.tags, "O")
        self._dictionary = model.dictionary
        self._lexicon = allowed_by(lexicon, model)
        self._scripts = (
            None if model.lemmas is None else ScriptLabels(model.tags, model.lemmas.turkic)
        )

    def alike(self, number: int) -> Mask:
        """bool[n_labels]: which labels are written like one of them."""
        if number >= len(self._groups) - 1:
            return np.zeros(len(self._groups) - 1, np.bool_)
        found: Mask = self._groups[:-1] == self._groups[number]
        return found

    def labels_of(self, numbers: Numbers) -> list[str]:
        """The labels as they are learned; anything for kept ones that the model does not have."""
        return [self._labels[number] for number in numbers.tolist()]

    def seen(
        self, sentences: Sequence[Sequence[str]], numbers: Numbers, scores: Array
    ) -> tuple[Array, Mask]:
        """Return scores, minus infinity for impossible labels, and which labels are predicted."""
        if self._scripts is not None:
            return self._seen_lemmas(self._scripts, sentences, scores)
        given: Mask = self._groups[numbers][:, None] == self._groups[None, :-1]
        # A label that is kept may be none of the model's.
        own = np.arange(len(numbers)), np.minimum(numbers, scores.shape[1] - 1)
        given[own] = True
        able = self._able(sentences, len(numbers))
        if able is None:
            return scores, given
        able[own] = True
        return np.where(able, scores, -np.inf), given

    def _seen_lemmas(
        self, scripts: ScriptLabels, sentences: Sequence[Sequence[str]], scores: Array
    ) -> tuple[Array, Mask]:
        """The same of edit scripts: what makes the lemma of the best that applies is the given.

        Of scripts beyond the best few nothing is asked; their chances hardly count.
        """
        scores, given = scores.copy(), np.zeros(scores.shape, np.bool_)
        best = np.argsort(-scores, axis=1, kind="stable")[:, :_BEST_SCRIPTS].tolist()
        for row, word in enumerate(itertools.chain.from_iterable(sentences)):
            lemma = None
            for number in best[row]:
                made = scripts.lemma(word, number)
                if made is None:
                    scores[row, number] = -np.inf
                elif lemma in (None, made):
                    lemma, given[row, number] = made, True
            if lemma is None:
                number = scripts.best(word, scores[row])
                scores[row, number], given[row, number] = max(scores[row].max(), 0.0), True
        return scores, given

    def written(
        self,
        labeller: Labeller,
        sentences: Sequence[Sequence[str]],
        numbers: Numbers,
        scores: Array,
        given: Mask,
    ) -> list[list[str]]:
        """Return the labels as the column writes them; for scores and given see `seen`."""
        if self._scripts is None:
            return labeller.written(by_sentence(sentences, self.labels_of(numbers)))
        chosen = np.where(given, scores, -np.inf).argmax(axis=1).tolist()
        words = itertools.chain.from_iterable(sentences)
        lemmas = [self._scripts.lemma(w, n) or w for w, n in zip(words, chosen, strict=True)]
        return by_sentence(sentences, lemmas)

    def in_dictionary(self, sentences: Sequence[Sequence[str]]) -> Mask:
        """bool[n_words]: does the label come from the dictionary?"""
        if not self._dictionary:
            return np.zeros(sum(map(len, sentences)), np.bool_)
        return np.array(
            [
                word in self._dictionary and self._looked_up(word) is None
                for sentence in sentences
                for word in sentence
            ],
            np.bool_,
        )

    def _looked_up(self, word: str) -> Sequence[int] | None:
        lexicon: Mapping[str, Sequence[int]] = self._lexicon
        return lexicon.get(word) or lexicon.get(lower_cased(word)) if lexicon else None

    def _able(self, sentences: Sequence[Sequence[str]], n_words: int) -> Mask | None:
        """The labels that can be at each word; None where all can be everywhere."""
        if not self._lexicon:
            return None
        able = np.ones((n_words, len(self._groups) - 1), np.bool_)
        for row, word in enumerate(itertools.chain.from_iterable(sentences)):
            allowed = self._looked_up(word)
            if allowed is not None:
                able[row] = False
                able[row, allowed] = True
        return able


def by_sentence(sentences: Sequence[Sequence[str]], values: list[T]) -> list[list[T]]:
    """The values of the words of some sentences, sentence by sentence."""
    ends = list(itertools.accumulate(map(len, sentences)))
    return [values[a:b] for a, b in zip([0, *ends], ends, strict=False)]


Sure = tuple[list[list[str]], list[list[float]]]


def sure_labels(
    model: TaggerModel,
    labeller: Labeller,
    lexicon: Lexicon | None,
    sentences: list[Sequence[str]],
    keep: Sequence[Keep] | None = None,
    threads: int = 1,
) -> Sure:
    """Return a list of labels a sentence, as the labeller gives them, and confidences, 0 to 1.

    Raises ModelError if the model is not calibrated.
    """
    calibration = calibration_of(model)
    view = LabelView(model, lexicon)

    def use(piece: range, numbers: Numbers, scores: Array) -> Sure:
        part = [sentences[k] for k in piece]
        scores, given = view.seen(part, numbers, scores)
        found = calibration.confidences(scores, given)
        found[view.in_dictionary(part)] = calibration.dictionary
        return (
            view.written(labeller, part, numbers, scores, given),
            by_sentence(part, found.tolist()),
        )

    # Lemmas do not see each other, and a kept one need not be that of a script.
    fixed = None if model.lemmas is not None else keep
    pieces = labeller.scored(sentences, use, fixed, threads)
    labels, sure = (
        [one for piece in pieces for one in piece[0]],
        [one for piece in pieces for one in piece[1]],
    )
    if keep is None:
        return labels, sure
    return (
        [with_kept(own, kept) for own, kept in zip(labels, keep, strict=True)],
        _with_kept_sure(sure, keep),
    )


def sure_columns(
    agreeing: AgreeingColumns,
    prepared: Mapping[str, list[Sequence[str]]],
    keep: Keeps,
    threads: int = 1,
) -> dict[str, Sure]:
    """The labels of columns that agree, and how likely each is right.

    Where they would contradict each other, labels count by the combinations that were met: the
    likelihood of each is the product of what the columns hold likely.

    agreeing : the columns, all calibrated
    prepared, keep, threads : as for AgreeingColumns.scored
    """
    views = [LabelView(*own) for own in agreeing.constrained_models]
    calibrations = [calibration_of(model) for model, _ in agreeing.constrained_models]
    rows = np.array(agreeing.met, np.int64).reshape(-1, len(views))

    def use(batch: range, found: Sequence[Scored]) -> list[Sure]:
        sure, chances = [], []
        changed = np.zeros(len(found[0].own), np.bool_)
        for own in found:
            changed |= own.own != own.numbers
        for name, own, view, calibration in zip(
            agreeing.columns, found, views, calibrations, strict=True
        ):
            part = [prepared[name][k] for k in batch]
            scores, given = view.seen(part, own.own, own.scores)
            confidences = calibration.confidences(scores, given)
            fixed = view.in_dictionary(part)
            confidences[fixed] = calibration.dictionary
            sure.append(confidences)
            likely = calibration.probabilities(scores[changed], given[changed])
            forced = fixed[changed]
            likely[forced] = 0
            likely[forced, own.numbers[changed][forced]] = 1
            chances.append(likely)
        for k, at in enumerate(np.flatnonzero(changed).tolist()):
            together = np.prod([p[k][rows[:, c]] for c, p in enumerate(chances)], axis=0)
            for c, (own, view) in enumerate(zip(found, views, strict=True)):
                alike = view.alike(int(own.numbers[at]))
                whole = float(together.sum())
                share = float(together[alike[rows[:, c]]].sum()) / whole if whole > 0 else None
                sure[c][at] = chances[c][k][alike].sum() if share is None else share
        part = [prepared[agreeing.columns[0]][k] for k in batch]
        labels = agreeing.written(batch, found, prepared, keep)
        return [(own, by_sentence(part, x.tolist())) for own, x in zip(labels, sure, strict=True)]

    pieces = agreeing.scored(prepared, use, keep, threads)
    return {
        name: (
            [own for piece in pieces for own in piece[c][0]],
            _with_kept_sure([own for piece in pieces for own in piece[c][1]], keep.get(name)),
        )
        for c, name in enumerate(agreeing.columns)
    }


def _with_kept_sure(sure: list[list[float]], keep: Sequence[Keep] | None) -> list[list[float]]:
    """Confidences, those in labels that are kept 1."""
    if keep is None:
        return sure
    return [
        own
        if kept is None
        else [x if label is None else 1.0 for x, label in zip(own, kept, strict=True)]
        for own, kept in zip(sure, keep, strict=True)
    ]


def label_chances(
    model: TaggerModel, labeller: Labeller, lexicon: Lexicon | None, sentence: Sequence[str]
) -> Array:
    """float64[n_words, n_labels]: how likely each learned label is for a sentence's words.

    Raises ModelError if the model is not calibrated.
    """
    calibration = calibration_of(model)
    view = LabelView(model, lexicon)

    def use(piece: range, numbers: Numbers, scores: Array) -> Array:
        part = [sentence for _ in piece]
        scores, given = view.seen(part, numbers, scores)
        found = calibration.probabilities(scores, given)
        fixed = view.in_dictionary(part)
        if fixed.any() and found.shape[1] > 1:
            found[fixed] = (1 - calibration.dictionary) / (found.shape[1] - 1)
            found[fixed, numbers[fixed]] = calibration.dictionary
        return found

    return labeller.scored(labeller.prepared([sentence]), use)[0]


BINS = 15


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Tokens with confidences from ``low`` up to ``high``, their mean confidence and accuracy.

    Both are None if there are none.
    """

    low: float
    high: float
    count: int
    confidence: float | None
    accuracy: float | None


@dataclass(frozen=True, slots=True)
class Reliability:
    """Distance of confidences from accuracies, in 15 bins of equal width from 0 to 1."""

    bins: tuple[ReliabilityBin, ...]

    @classmethod
    def of(
        cls,
        confidences: Iterable[float] | npt.NDArray[np.float64],
        right: Iterable[bool] | npt.NDArray[np.bool_],
    ) -> Reliability:
        """Of words with these confidences (0 to 1), each right or wrong."""
        given = np.array(list(confidences), np.float64)
        hits = np.array(list(right), np.bool_)
        place = np.minimum((given * BINS).astype(np.int64), BINS - 1)
        counts = np.bincount(place, minlength=BINS)
        sums, rights = (np.bincount(place, x, BINS) for x in (given, hits))
        return cls(
            tuple(
                ReliabilityBin(
                    k / BINS,
                    (k + 1) / BINS,
                    n,
                    float(sums[k]) / n if n else None,
                    float(rights[k]) / n if n else None,
                )
                for k, n in enumerate(counts.tolist())
            )
        )

    @property
    def ece(self) -> float:
        """The expected calibration error: |confidence - accuracy| of each bin, weighed by words.

        As in C. Guo et al. (2017), "On calibration of modern neural networks", section 2, with 15
        bins of equal width, of the confidence in the label given; 0 where there are no words.
        """
        total = sum(part.count for part in self.bins)
        gaps = sum(
            part.count * abs(part.confidence - part.accuracy)
            for part in self.bins
            if part.confidence is not None and part.accuracy is not None
        )
        return gaps / total if total else 0.0

    def to_dict(self) -> dict[str, Any]:
        """One JSON object: ``ece``, and ``bins`` with what a ReliabilityBin has."""
        return {"ece": self.ece, "bins": [asdict(part) for part in self.bins]}
