"""Confidences: the probability that a label which a calibrated model gives is right.

A label's margin is by how much its score leads over the best other one. The isotonic curve of the
model rises from the margin to the accuracy of tokens at such a margin on the dev set; what that
leaves is divided among the other labels by a softmax over their scores (probability.py).

A constrained label has 1; one from the tag dictionary has the accuracy of the dictionary on the dev
set. For all others, all learned labels that are written like the predicted one count as predicted:
of features, those with any part of speech; of spans, those that differ in the letter before the
type alone. Labels that a lexicon forbids count for nothing. Those that would be illegal beside the
labels around the word do count: where spans begin and end is mostly wrong in several words at once,
and it is the illegal labels that tell (on chunks the log loss is 0.13 with them, 0.19 without).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from perceptron_nlp.errors import ModelError
from perceptron_nlp.probability import Floats, Mask, softmax
from perceptron_nlp.tagger.model.calibration import Calibration
from perceptron_nlp.tagger.model.label_components import forms_of
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.tag.label import Labeler

if TYPE_CHECKING:
    from perceptron_nlp.tagger.tag.agreeing_columns import AgreeingColumns, Keeps, Scored
    from perceptron_nlp.tagger.tag.constraints import Keep
    from perceptron_nlp.tagger.tag.lemmatize import ScriptLabels

T = TypeVar("T")
# Scripts of a word that are looked at one by one.
_BEST_SCRIPTS = 8
Numbers = npt.NDArray[np.int64]


def margins_of(scores: Floats, given: Mask) -> Floats:
    """float64[n_words]: the best score of the labels given, less the best of all others.

    Infinity where there are no others. Exact where scores are multiples of a power of two, as
    those of a model are.
    """
    with np.errstate(over="ignore"):
        margins: Floats = np.where(given, scores, -np.inf).max(axis=1) - np.where(
            given, -np.inf, scores
        ).max(axis=1)
    return margins


def confidences_of(calibration: Calibration, scores: Floats, given: Mask) -> Floats:
    """Return float64[n_tokens], 0 to 1: the confidence in the predicted labels.

    ``scores`` are float64[n_tokens, n_labels], minus infinity for impossible labels; ``given``
    (bool) are the labels that count as predicted, one a token at least. Where all others are
    impossible it is 1; where there are none, as in a column of one label, what the curve ends at.
    """
    leads = margins_of(scores, given)
    curve = np.interp(leads, calibration.margins, calibration.rates)
    return np.where((leads == np.inf) & ~given.all(axis=1), 1.0, curve)


def probabilities_of(calibration: Calibration, scores: Floats, given: Mask) -> Floats:
    """Return float64[n_tokens, n_labels]: the probability of each label; rows sum to one.

    The predicted labels have together what `confidences_of` gives, and the others share the rest
    in the proportions of the softmax. Parameters are those of confidences_of.
    """
    shares = softmax(scores, calibration.temperature)
    return with_share(shares, given, confidences_of(calibration, scores, given))


def with_share(shares: Floats, given: Mask, wanted: Floats) -> Floats:
    """Rows that sum to one, in which the labels given have together what is wanted.

    Both kinds keep their proportions; where one kind has nothing, it shares evenly. A row in which
    all labels are given stays as it is.
    """
    others: Mask = ~given
    result = np.where(given, _spread(shares, given, wanted), _spread(shares, others, 1 - wanted))
    return np.where(np.all(given, axis=1, keepdims=True), shares, result)


def _spread(shares: Floats, mask: Mask, wanted: Floats) -> Floats:
    """Divide what is wanted of each row among the labels of a mask."""
    own = np.where(mask, shares, 0.0)
    sums = np.sum(own, axis=1, keepdims=True)
    parts: Floats = mask / np.maximum(np.sum(mask, axis=1, keepdims=True), 1)
    np.divide(own, sums, out=parts, where=sums > 0)
    return parts * wanted[:, None]


class LabelView:
    """Labels of a model of one column that count as one, and those that are possible at a token."""

    def __init__(self, labeler: Labeler) -> None:
        model, lexicon = labeler.model, labeler.lexicon
        names = [forms_of(label, model.scheme)[-1] for label in model.tags]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        # One more, for a kept label that the model does not have.
        self._groups = np.array([*map(numbers.__getitem__, names), -1], np.int64)
        self._labels = (*model.tags, "O")
        self._dictionary = model.dictionary
        self._lexicon: Mapping[str, Sequence[int]] = {}
        if lexicon:
            from perceptron_nlp.tagger.tag.constraints import allowed_by, lower_cased

            self._lexicon, self._lower_cased = allowed_by(lexicon, model), lower_cased
        self._scripts: ScriptLabels | None = None
        if model.lemmas is not None:
            from perceptron_nlp.tagger.tag.lemmatize import ScriptLabels

            self._scripts = ScriptLabels(model.tags, model.lemmas.alphabet)

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
        self, sentences: Sequence[Sequence[str]], numbers: Numbers, scores: Floats
    ) -> tuple[Floats, Mask]:
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
        self, scripts: ScriptLabels, sentences: Sequence[Sequence[str]], scores: Floats
    ) -> tuple[Floats, Mask]:
        """The same of edit scripts: what makes the lemma of the best that applies is the given.

        Of scripts beyond the best few nothing is asked; their chances hardly count.
        """
        scores, given = scores.copy(), np.zeros(scores.shape, np.bool_)
        best = _highest(scores, _BEST_SCRIPTS).tolist()
        made_of: dict[tuple[str, int], str | None] = {}
        for row, word in enumerate(itertools.chain.from_iterable(sentences)):
            lemma = None
            for number in best[row]:
                if (word, number) not in made_of:
                    made_of[word, number] = scripts.lemma(word, number)
                made = made_of[word, number]
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
        labeler: Labeler,
        sentences: Sequence[Sequence[str]],
        numbers: Numbers,
        scores: Floats,
        given: Mask,
    ) -> list[list[str]]:
        """Return the labels as the column writes them; for scores and given see `seen`."""
        if self._scripts is None:
            return labeler.written(by_sentence(sentences, self.labels_of(numbers)))
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
        lexicon = self._lexicon
        return lexicon.get(word) or lexicon.get(self._lower_cased(word)) if lexicon else None

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


def _highest(scores: Floats, most: int) -> Numbers:
    """Return int64[n_rows, most]: the places of the highest scores of each row, the best first.

    Of equal scores the first places count, as on every machine.
    """
    most = min(most, scores.shape[1])
    least = np.partition(scores, -most, axis=1)[:, -most, None]
    rows, places = np.nonzero(scores >= least)
    order = np.lexsort((places, -scores[rows, places], rows))
    first = np.searchsorted(rows, np.arange(len(scores)))
    found: Numbers = places[order][first[:, None] + np.arange(most)]
    return found


def by_sentence(sentences: Sequence[Sequence[str]], values: list[T]) -> list[list[T]]:
    """The values of the words of some sentences, sentence by sentence."""
    ends = list(itertools.accumulate(map(len, sentences)))
    return [values[a:b] for a, b in zip([0, *ends], ends, strict=False)]


Sure = tuple[list[list[str]], list[list[float]]]


def sure_labels(
    labeler: Labeler,
    sentences: list[Sequence[str]],
    keep: Sequence[Keep] | None = None,
    threads: int = 1,
) -> Sure:
    """Return a list of labels a sentence, as the labeler gives them, and confidences, 0 to 1.

    Raises ModelError if the model is not calibrated.
    """
    calibration, view = calibration_of(labeler.model), LabelView(labeler)

    def use(piece: range, numbers: Numbers, scores: Floats) -> Sure:
        part = [sentences[k] for k in piece]
        scores, given = view.seen(part, numbers, scores)
        found = confidences_of(calibration, scores, given)
        found[view.in_dictionary(part)] = calibration.dictionary
        labels = view.written(labeler, part, numbers, scores, given)
        sure = by_sentence(part, found.tolist())
        if labeler.gives_lemmas:
            for at, (lemmas, own) in enumerate(zip(labels, sure, strict=True)):
                for place, lemma, rate in labeler.settled_lemmas(part[at]):
                    lemmas[place], own[place] = lemma, rate
        return labels, sure

    # Lemmas do not see each other, and a kept one need not be that of a script.
    fixed = None if labeler.gives_lemmas else keep
    pieces = labeler.scored(sentences, use, fixed, threads)
    labels, sure = (
        [one for piece in pieces for one in piece[0]],
        [one for piece in pieces for one in piece[1]],
    )
    if keep is None:
        return labels, sure
    from perceptron_nlp.tagger.tag.constraints import with_kept

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
    views = [LabelView(labeler) for labeler in agreeing.labelers]
    calibrations = [calibration_of(labeler.model) for labeler in agreeing.labelers]
    rows = agreeing.rows

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
            confidences = confidences_of(calibration, scores, given)
            fixed = view.in_dictionary(part)
            confidences[fixed] = calibration.dictionary
            for at, rate in own.settled.items():
                confidences[at], fixed[at] = rate, True
            sure.append(confidences)
            likely = probabilities_of(calibration, scores[changed], given[changed])
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
                own_share = chances[c][k][alike].sum() if share is None else share
                sure[c][at] = min(1.0, own_share)
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


def label_chances(labeler: Labeler, sentence: Sequence[str]) -> Floats:
    """float64[n_words, n_labels]: how likely each learned label is for a sentence's words.

    Raises ModelError if the model is not calibrated.
    """
    calibration, view = calibration_of(labeler.model), LabelView(labeler)

    def use(piece: range, numbers: Numbers, scores: Floats) -> Floats:
        part = [sentence for _ in piece]
        scores, given = view.seen(part, numbers, scores)
        found = probabilities_of(calibration, scores, given)
        fixed = view.in_dictionary(part)
        if fixed.any() and found.shape[1] > 1:
            found[fixed] = (1 - calibration.dictionary) / (found.shape[1] - 1)
            found[fixed, numbers[fixed]] = calibration.dictionary
        return found

    return labeler.scored(labeler.prepared([sentence]), use)[0]


def calibration_of(model: TaggerModel) -> Calibration:
    """The model's calibration; ModelError where it has none."""
    if model.calibration is None:
        raise ModelError(
            f"the model of column {model.column} is not calibrated, so it has no confidences;"
            " train with a dev set, or calibrate it: tagger.calibrate(dev), or"
            " perceptron-nlp calibrate MODEL DEV"
        )
    return model.calibration
