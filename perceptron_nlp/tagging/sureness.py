"""How sure a model is of its labels: from sentences to chances, and from a dev set to what those
need.

What counts as the label that a word was given are all learnt labels that are written as it is:
of features, those with any part of speech; of spans, those that differ in the letter before the
type alone. Labels that a lexicon forbids count for nothing. Those that would be illegal beside the
labels around the word do count: where spans begin and end is mostly wrong in several words at once,
and it is the illegal labels that tell (on chunks the log loss is 0.13 with them, 0.19 without). A
kept label is sure; one from the model's dictionary is as sure as the dictionary was on the dev set.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from perceptron_nlp.tagging.calibration import (
    LONGEST,
    Array,
    Mask,
    best_of_many,
    margins_of,
)
from perceptron_nlp.tagging.calibrationfit import (
    FOLDS,
    Evidence,
    Fitted,
    fit_calibration,
    too_few,
)
from perceptron_nlp.tagging.examples import Examples
from perceptron_nlp.tagging.extractor import Extractor
from perceptron_nlp.tagging.keeping import Keep, forms_of, with_kept
from perceptron_nlp.tagging.labellers import make_labeller
from perceptron_nlp.tagging.labelling import Labeller, allowed_by
from perceptron_nlp.tagging.lexicon import Lexicon, lower_cased
from perceptron_nlp.tagging.model import TaggerModel, calibration_of, joined
from perceptron_nlp.tagging.sources import Source, check_labelled, gold_labels

logger = logging.getLogger("perceptron_nlp")

# Where the training record tells of it.
RECORD = "calibration"
# A temperature is fitted to so many words at most, and to so many of their scores.
_SAMPLED, _SAMPLED_SCORES = 8192, 1 << 19
_BEST = 128

T = TypeVar("T")
Sure = tuple[list[list[str]], list[list[float]]]
Numbers = npt.NDArray[np.int64]


def sure_labels(model: TaggerModel, labeller: Labeller, lexicon: Lexicon | None,
                sentences: list[Sequence[str]], keep: Sequence[Keep] | None = None,
                threads: int = 1) -> Sure:
    """The labels of prepared sentences, and how likely each is right.

    Parameters
    ----------
    model : of one column, calibrated
    labeller : of the model and the lexicon
    lexicon : what labels some forms may have, or None
    sentences, keep, threads : as for the labeller

    Returns
    -------
    a list of labels a sentence, as the labeller's `label` gives them; and for each a float from 0
    to 1

    Raises
    ------
    ModelError : the model is not calibrated
    """
    calibration = calibration_of(model)
    view = _View(model, lexicon)

    def use(piece: range, numbers: Numbers, scores: Array) -> Sure:
        part = [sentences[k] for k in piece]
        scores, given = view.seen(part, numbers, scores)
        found = calibration.confidences(scores, given)
        found[view.in_dictionary(part)] = calibration.dictionary
        return (labeller.written(_by_sentence(part, view.labels_of(numbers))),
                _by_sentence(part, found.tolist()))

    pieces = labeller.scored(sentences, use, keep, threads)
    labels, sure = ([one for piece in pieces for one in piece[0]],
                    [one for piece in pieces for one in piece[1]])
    if keep is None:
        return labels, sure
    return ([with_kept(own, kept) for own, kept in zip(labels, keep, strict=True)],
            [own if kept is None else [x if label is None else 1.0
                                       for x, label in zip(own, kept, strict=True)]
             for own, kept in zip(sure, keep, strict=True)])


def label_chances(model: TaggerModel, labeller: Labeller, lexicon: Lexicon | None,
                  sentence: Sequence[str]) -> Array:
    """float64[n_words, n_labels]: how likely each learnt label is for the words of one sentence.

    Raises
    ------
    ModelError : the model is not calibrated
    """
    calibration = calibration_of(model)
    view = _View(model, lexicon)

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


def calibrated(model: TaggerModel, features: Extractor | None, sentences: Sequence[Any],
               gold: Sequence[Sequence[str | None]]) -> tuple[TaggerModel, str | None]:
    """The model with the calibration that suits it, and what its record tells of it.

    Parameters
    ----------
    model : of one column
    features : its feature function, or None
    sentences, gold : of a dev set, prepared; and the labels as they are written there

    Returns
    -------
    (model, None); or, where the sentences are too few, the model without calibration, and why
    """
    labeller = make_labeller(model, features)
    evidence = _evidence(model, labeller, model.inputs(sentences), gold)
    why = too_few(evidence)
    if why is not None:
        told: dict[str, Any] = {"method": None, "why": why}
        return replace(model, calibration=None, record={**model.record, RECORD: told}), why
    fitted = fit_calibration(evidence)
    return replace(model, calibration=fitted.calibration, record={
        **model.record, RECORD: _told(fitted, len(evidence.right))}), None


def calibrated_by(model: TaggerModel, features: Extractor | None, dev: Examples | None
                  ) -> TaggerModel:
    """The model calibrated on the dev set that it was trained with, if that does.

    Parameters
    ----------
    model : of one column
    features : its feature function, or None
    dev : the dev set, with what its sentences show of each other; None where there was none
    """
    if dev is None:
        return model
    found, why = calibrated(model, features, dev.sentences, dev.gold)
    if why is not None:
        logger.info("dev: not calibrated: %s", why)
    return found


def calibrated_columns(model: TaggerModel, features: Extractor | None, source: Source
                       ) -> tuple[TaggerModel, list[str]]:
    """The model with each of its columns calibrated, and of which columns that cannot be, and why.

    These stay as they are.

    Parameters
    ----------
    model : of one column or several
    features : its feature function, or None
    source : the dev set, which can be gone over again where there are several columns

    Raises
    ------
    FormatError : the source breaks its format, or has no labels in a column
    """
    parts, left_out = [], []
    for part in model.parts_by_column:
        sentences = list(source)
        gold = [gold_labels(sentence, part.column) for sentence in sentences]
        check_labelled(sum(label is not None for labels in gold for label in labels), source,
                       part.column)
        prepared = make_labeller(part, features).prepared(sentences)
        found, why = calibrated(part, features, prepared, gold)
        parts.append(part if why else found)
        if why:
            left_out.append(f"column {part.column}: {why}")
    return replace(joined(parts), packed=model.packed), left_out


def _told(fitted: Fitted, n_words: int) -> dict[str, Any]:
    return {"method": fitted.calibration.method, "words": n_words, "ece": fitted.ece,
            "losses": fitted.losses}


def with_room(model: TaggerModel) -> TaggerModel:
    """The model, as long in a file as calibrating it can make it."""
    longest = LONGEST.temperature
    told = {"method": "temperature", "words": 10**12, "ece": longest,
            "losses": {"temperature": longest, "isotonic": longest}}
    return replace(model, calibration=LONGEST, record={**model.record, RECORD: told},
                   more=tuple(map(with_room, model.more)))


def _evidence(model: TaggerModel, labeller: Labeller, sentences: list[Sequence[str]],
              gold: Sequence[Sequence[str | None]]) -> Evidence:
    """What the labels for a dev set say; words without gold label are left out."""
    view = _View(model, None)
    n_words = sum(map(len, gold))
    wanted = min(_SAMPLED, _SAMPLED_SCORES // min(_BEST, len(model.tags)))
    step = max(1, -(-n_words // wanted))

    def use(piece: range, numbers: Numbers, scores: Array) -> tuple[Any, ...]:
        part = [sentences[k] for k in piece]
        scores, given = view.seen(part, numbers, scores)
        labels = _joined(labeller.written(_by_sentence(part, view.labels_of(numbers))))
        truth = _joined(gold[k] for k in piece)
        counted = np.array([label is not None for label in truth], np.bool_)
        right = np.array([a == b for a, b in zip(labels, truth, strict=True)], np.bool_)
        fixed = view.in_dictionary(part)
        free = counted & ~fixed
        folds = np.array([k * FOLDS // len(gold) for k in piece for _ in gold[k]], np.int64)
        few = np.flatnonzero(free)[::step]
        places = np.cumsum(free)[few] - 1
        return (margins_of(scores, given)[free], right[free], folds[free], places,
                *best_of_many(scores[few], given[few], _BEST),
                int((counted & fixed).sum()), int((right & counted & fixed).sum()))

    found = list(zip(*labeller.scored(sentences, use), strict=True))
    starts = np.cumsum([0, *map(len, found[0])])[:-1]
    sample = [place + start for place, start in zip(found[3], starts, strict=True)]
    return Evidence(
        margins=np.concatenate(found[0]), right=np.concatenate(found[1]),
        folds=np.concatenate(found[2]), sample=np.concatenate(sample),
        scores=np.concatenate(found[4]), given=np.concatenate(found[5]),
        in_dictionary=sum(found[6]), right_in_dictionary=sum(found[7]))


def _joined(lists: Iterable[Iterable[T]]) -> list[T]:
    return list(itertools.chain.from_iterable(lists))


def _by_sentence(sentences: Sequence[Sequence[str]], values: list[T]) -> list[list[T]]:
    """The values of the words of some sentences, sentence by sentence."""
    ends = list(itertools.accumulate(map(len, sentences)))
    return [values[a:b] for a, b in zip([0, *ends], ends, strict=False)]


class _View:
    """What of a model's labels counts as one, and which of them can be where.

    Parameters
    ----------
    model : of one column
    lexicon : what labels some forms may have, or None
    """

    def __init__(self, model: TaggerModel, lexicon: Lexicon | None) -> None:
        names = [forms_of(label, model.scheme)[-1] for label in model.tags]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        # One more, for a kept label that the model does not have.
        self._groups = np.array([*map(numbers.__getitem__, names), -1], np.int64)
        self._labels = (*model.tags, "O")
        self._dictionary = model.dictionary
        self._lexicon = allowed_by(lexicon, model)

    def labels_of(self, numbers: Numbers) -> list[str]:
        """The labels as they are learnt; anything for kept ones that the model does not have."""
        return [self._labels[number] for number in numbers.tolist()]

    def seen(self, sentences: Sequence[Sequence[str]], numbers: Numbers, scores: Array
             ) -> tuple[Array, Mask]:
        """Scores with minus infinity for labels that cannot be, and which labels are the given.

        Parameters
        ----------
        sentences : the sentences
        numbers, scores : of their words, one after the other
        """
        given: Mask = self._groups[numbers][:, None] == self._groups[None, :-1]
        # A label that is kept may be none of the model's.
        own = np.arange(len(numbers)), np.minimum(numbers, scores.shape[1] - 1)
        given[own] = True
        able = self._able(sentences, len(numbers))
        if able is None:
            return scores, given
        able[own] = True
        return np.where(able, scores, -np.inf), given

    def in_dictionary(self, sentences: Sequence[Sequence[str]]) -> Mask:
        """bool[n_words]: does the label come from the dictionary?"""
        if not self._dictionary:
            return np.zeros(sum(map(len, sentences)), np.bool_)
        return np.array([word in self._dictionary and self._looked_up(word) is None
                         for sentence in sentences for word in sentence], np.bool_)

    def _looked_up(self, word: str) -> Sequence[int] | None:
        lexicon: Mapping[str, Sequence[int]] = self._lexicon
        return lexicon.get(word) or lexicon.get(lower_cased(word)) if lexicon else None

    def _able(self, sentences: Sequence[Sequence[str]], n_words: int) -> Mask | None:
        """Which labels can be where; None where all can be everywhere."""
        if not self._lexicon:
            return None
        able = np.ones((n_words, len(self._groups) - 1), np.bool_)
        for row, word in enumerate(itertools.chain.from_iterable(sentences)):
            allowed = self._looked_up(word)
            if allowed is not None:
                able[row] = False
                able[row, allowed] = True
        return able
