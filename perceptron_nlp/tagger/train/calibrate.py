"""Models calibrated on a dev set."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_nlp.crossfit import crossfit
from perceptron_nlp.probability import (
    Floats,
    Mask,
    Reliability,
    curve_of,
    fit_temperature,
    log_losses,
    rounded,
    softmax,
)
from perceptron_nlp.tagger.confidence import LabelView, Numbers, T, margins_of
from perceptron_nlp.tagger.model.calibration import LONGEST, MOST_POINTS, Calibration
from perceptron_nlp.tagger.model.model import TaggerModel, joined
from perceptron_nlp.tagger.overlap import trained_on
from perceptron_nlp.tagger.sources import Source, check_labeled, gold_for
from perceptron_nlp.tagger.tag.label import Labeler, make_labeler
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.text.sentence import Sentence

FOLDS = 5
# From fewer words nothing can be said about shares.
LEAST_WORDS = 300
# A point of a curve stands for so many words at least.
LEAST_IN_POINT = 30
Curve = tuple[tuple[float, ...], tuple[float, ...]]
logger = logging.getLogger("perceptron_nlp")

# Its key in the training record.
RECORD = "calibration"
# A temperature is fitted to so many words at most, and to so many of their scores.
_SAMPLED, _SAMPLED_SCORES = 8192, 1 << 19
_BEST = 128


@dataclass(frozen=True, slots=True)
class CalibrationData:
    """Margins and correctness of a tagger's labels for a dev set.

    margins, right, folds : float64, bool, int64[n_words]: by how much each label given leads, and
        is it right? To which of the five folds does its word belong?
    sample : int64[n_sampled], the numbers of some words, ascending
    scores, given : float64, bool[n_sampled, n_labels], of these: what labels scored (all, or the
        best of very many), and which count as the one given
    in_dictionary, right_in_dictionary : words whose label comes from the dictionary, which are
        not among the others
    """

    margins: Floats
    right: Mask
    folds: npt.NDArray[np.int64]
    sample: npt.NDArray[np.int64]
    scores: Floats
    given: Mask
    in_dictionary: int = 0
    right_in_dictionary: int = 0


def too_few(data: CalibrationData) -> str | None:
    """Why these words do not do for a calibration; None if they do."""
    n = len(data.right)
    if n >= LEAST_WORDS:
        return None
    return f"{n:,} labeled words are too few to tell how sure labels are; {LEAST_WORDS} will do"


def fit_calibration(data: CalibrationData) -> tuple[Calibration, dict[str, Any]]:
    """Return the calibration fitted to data that are not too_few, and its training record.

    The record has the mean log loss and the calibration error, both cross-validated: of five folds
    of consecutive sentences, each is judged by a curve fitted to the others.
    """
    right, sample = data.right[data.sample], data.sample
    held_out = np.empty(len(sample))
    folds = [np.flatnonzero(data.folds == fold) for fold in range(FOLDS)]
    curves = crossfit(
        folds, lambda rest: _curve(data, np.array(rest, np.int64)), lambda curve, _: curve
    )
    for fold, curve in enumerate(curves):
        here = data.folds[sample] == fold
        held_out[here] = np.interp(data.margins[sample][here], *curve)
    margins, rates = _curve(data, np.arange(len(data.margins)))
    # As if one token more had been seen, which is right as often as the others.
    dictionary = (data.right_in_dictionary + float(data.right.mean())) / (data.in_dictionary + 1)
    return Calibration(_temperature(data), margins, rates, rounded(dictionary)), {
        "method": "isotonic",
        "words": len(data.right),
        "ece": rounded(Reliability.of(held_out, right).ece),
        "loss": rounded(float(log_losses(held_out, right).mean())),
    }


def _curve(data: CalibrationData, words: npt.NDArray[np.int64]) -> Curve:
    """Return the points of the curve of some words; one for all where none has a margin."""
    if not len(words):
        return (0.0,), (0.5,)
    margins, right = data.margins[words], data.right[words]
    finite = np.isfinite(margins)
    if finite.any():
        margins, right = margins[finite], right[finite]
    else:
        margins = np.zeros(len(words))
    return curve_of(margins, right, LEAST_IN_POINT, MOST_POINTS)


def _temperature(data: CalibrationData) -> float:
    """Return the temperature with the least log loss on the sampled tokens."""
    right = data.right[data.sample]

    def loss(temperature: float) -> float:
        shares = np.where(data.given, softmax(data.scores, temperature), 0.0).sum(axis=1)
        return float(log_losses(np.minimum(shares, 1.0), right).sum())

    return fit_temperature(data.margins, loss)


def calibrated(
    model: TaggerModel, sentences: Sequence[Any], gold: Sequence[Sequence[str | None]]
) -> tuple[TaggerModel, str | None]:
    """Return a model of one column with its calibration, and None; or without, and why not."""
    return fitted(model, data_of(make_labeler(model), model.inputs(sentences), gold))


def fitted(model: TaggerModel, data: CalibrationData) -> tuple[TaggerModel, str | None]:
    """Return a model of one column with the calibration that fits data, or without, and why not."""
    why = too_few(data)
    if why is not None:
        told: dict[str, Any] = {"method": None, "why": why}
        return model.replace(calibration=None, record={**model.record, RECORD: told}), why
    calibration, told = fit_calibration(data)
    return model.replace(calibration=calibration, record={**model.record, RECORD: told}), None


def calibrated_by(model: TaggerModel, dev: Examples | None) -> TaggerModel:
    """Return a model of one column calibrated on its training's dev set, if there is one."""
    if dev is None:
        return model
    found, why = calibrated(model, dev.sentences, dev.gold)
    if why is not None:
        logger.info("dev: not calibrated: %s", why)
    return found


def calibrated_columns(model: TaggerModel, source: Source) -> tuple[TaggerModel, list[str]]:
    """Return the model with its columns calibrated, and why some stay as they are.

    Raises FormatError if the text breaks its format, or has no labels in a column.
    """
    parts, left_out, told = [], [], set[str]()
    if model.more:
        source.hold()
    for part, prepared in as_in_use(model, list(source)):
        sentences = list(source)
        gold = gold_for(part, sentences, part.column)
        check_labeled(
            sum(label is not None for labels in gold for label in labels), source, part.column
        )
        warning = trained_on(part.record, sentences, source.place)
        if warning is not None and warning not in told:
            told.add(warning)
            logger.warning("%s", warning)
        found, why = calibrated(part, prepared, gold)
        parts.append(part if why else found)
        if why:
            left_out.append(f"column {part.column}: {why}")
    return joined(parts).replace(packed=model.packed), left_out


def with_last_calibrated(model: TaggerModel, sentences: Sequence[Sentence]) -> TaggerModel:
    """Return the model with its last column calibrated by what the columns before it give."""
    *_, (part, prepared) = as_in_use(model, sentences)
    gold = gold_for(part, sentences, part.column)
    return joined([*model.parts_by_column[:-1], calibrated(part, prepared, gold)[0]])


def as_in_use(
    model: TaggerModel, sentences: Sequence[Sentence]
) -> Iterator[tuple[TaggerModel, list[Sequence[str]]]]:
    """Yield the model of each column, and the sentences with predicted columns before it."""
    labelers: dict[str, Labeler] = {}
    for part in model.parts_by_column:
        earlier = {name: one for name, one in labelers.items() if name in part.feature_columns}
        labeler = make_labeler(part, earlier=earlier)
        labelers[part.column] = labeler
        yield part, labeler.prepared(sentences)


def with_room(model: TaggerModel) -> TaggerModel:
    """The model, as long in a file as calibrating it can make it."""
    longest = LONGEST.temperature
    told = {"method": "isotonic", "words": 10**12, "ece": longest, "loss": longest}
    return model.replace(
        calibration=LONGEST,
        record={**model.record, RECORD: told},
        more=tuple(map(with_room, model.more)),
    )


def data_of(
    labeler: Labeler, sentences: list[Sequence[str]], gold: Sequence[Sequence[str | None]]
) -> CalibrationData:
    """Return the data of a dev set; tokens without gold label are left out."""
    view = LabelView(labeler)
    n_words = sum(map(len, gold))
    wanted = min(_SAMPLED, _SAMPLED_SCORES // min(_BEST, len(labeler.model.tags)))
    step = max(1, -(-n_words // wanted))

    def use(piece: range, numbers: Numbers, scores: Floats) -> tuple[Any, ...]:
        part = [sentences[k] for k in piece]
        scores, given = view.seen(part, numbers, scores)
        labels = _joined(view.written(labeler, part, numbers, scores, given))
        truth = _joined(gold[k] for k in piece)
        counted = np.array([label is not None for label in truth], np.bool_)
        right = np.array([a == b for a, b in zip(labels, truth, strict=True)], np.bool_)
        fixed = view.in_dictionary(part)
        free = counted & ~fixed
        folds = np.array([k * FOLDS // len(gold) for k in piece for _ in gold[k]], np.int64)
        few = np.flatnonzero(free)[::step]
        places = np.cumsum(free)[few] - 1
        return (
            margins_of(scores, given)[free],
            right[free],
            folds[free],
            places,
            *best_of_many(scores[few], given[few], _BEST),
            int((counted & fixed).sum()),
            int((right & counted & fixed).sum()),
        )

    found = list(zip(*labeler.scored(sentences, use), strict=True))
    starts = np.cumsum([0, *map(len, found[0])])[:-1]
    sample = [place + start for place, start in zip(found[3], starts, strict=True)]
    return CalibrationData(
        margins=np.concatenate(found[0]),
        right=np.concatenate(found[1]),
        folds=np.concatenate(found[2]),
        sample=np.concatenate(sample),
        scores=np.concatenate(found[4]),
        given=np.concatenate(found[5]),
        in_dictionary=sum(found[6]),
        right_in_dictionary=sum(found[7]),
    )


def best_of_many(scores: Floats, given: Mask, most: int) -> tuple[Floats, Mask]:
    """The highest scores of each row, at most so many, in no order, and which of them are given."""
    if scores.shape[1] <= most:
        return scores, given
    places = np.argpartition(scores, -most, axis=1)[:, -most:]
    return np.take_along_axis(scores, places, 1), np.take_along_axis(given, places, 1)


def _joined(lists: Iterable[Iterable[T]]) -> list[T]:
    return list(itertools.chain.from_iterable(lists))
