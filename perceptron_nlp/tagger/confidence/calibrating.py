"""Models calibrated on a dev set: what their labels for it say, and what is fitted to that."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from perceptron_nlp.tagger.confidence.calibration import LONGEST, Array, best_of_many, margins_of
from perceptron_nlp.tagger.confidence.calibrationfit import (
    FOLDS,
    Evidence,
    Fitted,
    fit_calibration,
    too_few,
)
from perceptron_nlp.tagger.confidence.confidence import LabelView, Numbers, T, by_sentence
from perceptron_nlp.tagger.model.model import TaggerModel, joined
from perceptron_nlp.tagger.tag.feature_function import Extractor
from perceptron_nlp.tagger.tag.label import Labeller, make_labeller
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.overlap import trained_on
from perceptron_nlp.tagger.train.sources import Source, check_labelled, gold_labels

logger = logging.getLogger("perceptron_nlp")

# Where the training record tells of it.
RECORD = "calibration"
# A temperature is fitted to so many words at most, and to so many of their scores.
_SAMPLED, _SAMPLED_SCORES = 8192, 1 << 19
_BEST = 128


def calibrated(
    model: TaggerModel,
    features: Extractor | None,
    sentences: Sequence[Any],
    gold: Sequence[Sequence[str | None]],
) -> tuple[TaggerModel, str | None]:
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
        return model.replace(calibration=None, record={**model.record, RECORD: told}), why
    fitted = fit_calibration(evidence)
    return model.replace(
        calibration=fitted.calibration,
        record={**model.record, RECORD: _told(fitted, len(evidence.right))},
    ), None


def calibrated_by(
    model: TaggerModel, features: Extractor | None, dev: Examples | None
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


def calibrated_columns(
    model: TaggerModel, features: Extractor | None, source: Source
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
        check_labelled(
            sum(label is not None for labels in gold for label in labels), source, part.column
        )
        warning = trained_on(part.record, sentences, source.place)
        if warning is not None:
            logger.warning("%s", warning)
        prepared = make_labeller(part, features).prepared(sentences)
        found, why = calibrated(part, features, prepared, gold)
        parts.append(part if why else found)
        if why:
            left_out.append(f"column {part.column}: {why}")
    return joined(parts).replace(packed=model.packed), left_out


def _told(fitted: Fitted, n_words: int) -> dict[str, Any]:
    return {
        "method": fitted.calibration.method,
        "words": n_words,
        "ece": fitted.ece,
        "losses": fitted.losses,
    }


def with_room(model: TaggerModel) -> TaggerModel:
    """The model, as long in a file as calibrating it can make it."""
    longest = LONGEST.temperature
    told = {
        "method": "temperature",
        "words": 10**12,
        "ece": longest,
        "losses": {"temperature": longest, "isotonic": longest},
    }
    return model.replace(
        calibration=LONGEST,
        record={**model.record, RECORD: told},
        more=tuple(map(with_room, model.more)),
    )


def _evidence(
    model: TaggerModel,
    labeller: Labeller,
    sentences: list[Sequence[str]],
    gold: Sequence[Sequence[str | None]],
) -> Evidence:
    """What the labels for a dev set say; words without gold label are left out."""
    view = LabelView(model, None)
    n_words = sum(map(len, gold))
    wanted = min(_SAMPLED, _SAMPLED_SCORES // min(_BEST, len(model.tags)))
    step = max(1, -(-n_words // wanted))

    def use(piece: range, numbers: Numbers, scores: Array) -> tuple[Any, ...]:
        part = [sentences[k] for k in piece]
        scores, given = view.seen(part, numbers, scores)
        labels = _joined(labeller.written(by_sentence(part, view.labels_of(numbers))))
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

    found = list(zip(*labeller.scored(sentences, use), strict=True))
    starts = np.cumsum([0, *map(len, found[0])])[:-1]
    sample = [place + start for place, start in zip(found[3], starts, strict=True)]
    return Evidence(
        margins=np.concatenate(found[0]),
        right=np.concatenate(found[1]),
        folds=np.concatenate(found[2]),
        sample=np.concatenate(sample),
        scores=np.concatenate(found[4]),
        given=np.concatenate(found[5]),
        in_dictionary=sum(found[6]),
        right_in_dictionary=sum(found[7]),
    )


def _joined(lists: Iterable[Iterable[T]]) -> list[T]:
    return list(itertools.chain.from_iterable(lists))
