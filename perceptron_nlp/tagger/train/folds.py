"""Parts of a text that are held out in turn: whole documents if they suit, else sentences.

A training without a dev set is calibrated by them (``--calibrate folds``).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_nlp._checks import check_int
from perceptron_nlp.crossfit import by_size, unheard
from perceptron_nlp.errors import ArgumentError, FormatError
from perceptron_nlp.formats import opens_document
from perceptron_nlp.tagger.model.model import TEXT, TaggerModel
from perceptron_nlp.tagger.sources import Source, gold_for
from perceptron_nlp.tagger.tag.label import make_labeler
from perceptron_nlp.tagger.train.calibrate import FOLDS, CalibrationData, as_in_use, data_of, fitted
from perceptron_nlp.tagger.train.options import TrainingOptions
from perceptron_nlp.text.sentence import Sentence

logger = logging.getLogger("perceptron_nlp")

MAX_FOLDS = 1000
# Where the largest part has more than so many times the tokens of the smallest, documents are cut.
_UNEQUAL = 2
# A part of a text that is read as it runs consists of about so many stretches.
_STRETCHES = 10


def make_folds(
    sentences: Sequence[Sentence],
    sizes: Sequence[int],
    n_folds: int | None,
    seed: int,
    usual: int,
    place: str = "train",
    *,
    running: bool = False,
) -> tuple[list[list[int]], list[str]]:
    """Cut a text into folds of whole documents, or of sentences where documents do not suit.

    sizes : of each sentence, how many words have a label
    usual : the number of folds if `n_folds` is None and there are enough sentences
    place : what messages call the text
    running : in place of single sentences, deal stretches of consecutive ones out, so that most
        sentences keep their neighbors

    Returns the numbers of the sentences of each fold, ascending, and remarks.

    Raises FormatError if fewer than two sentences have labels; ArgumentError, ArgumentTypeError if
    `n_folds` is out of range, or more than there are sentences, or sentences with labels.
    """
    if n_folds is not None:
        check_int("folds", n_folds, 2, MAX_FOLDS)
    single = [[number] for number in range(len(sizes))]
    n_labeled = sum(map(bool, sizes))
    if n_labeled < 2:
        raise FormatError(
            "fewer than two sentences have labels; give more text, or text to test on", place
        )
    remarks = []
    wanted = n_folds or min(usual, n_labeled)
    if n_folds is None and wanted < usual:
        remarks.append(f"the text is cut into {wanted} parts, as few sentences have labels")
    if wanted > len(single):
        raise ArgumentError(f"folds: {wanted} is more than the {len(single)} sentences there are")
    if wanted > n_labeled:
        raise ArgumentError(
            f"folds: {wanted} is more than the {n_labeled} sentences that have labels"
        )
    whole = documents(sentences)
    if len(whole) > 1:
        of_documents = [sum(sizes[number] for number in unit) for unit in whole]
        if sum(map(bool, of_documents)) >= wanted:
            folds = by_size(whole, of_documents, wanted, seed)
            filled = [sum(sizes[number] for number in fold) for fold in folds]
            if max(filled) <= _UNEQUAL * min(filled):
                return folds, remarks
        remarks.append(
            f"{len(whole)} documents are too few or too unequal for {wanted} parts, so sentences"
            " are dealt out; the score may be a little too good"
        )
    if running:
        length = max(1, len(sizes) // (_STRETCHES * wanted))
        numbers = range(len(sizes))
        runs = [[*numbers[first : first + length]] for first in numbers[::length]]
        of_runs = [sum(sizes[number] for number in run) for run in runs]
        if sum(map(bool, of_runs)) >= wanted:
            return by_size(runs, of_runs, wanted, seed), remarks
    return by_size(single, sizes, wanted, seed), remarks


def documents(sentences: Sequence[Sentence]) -> list[list[int]]:
    """Return the numbers of each document's sentences; one document where there are no marks."""
    found: list[list[int]] = []
    for number, sentence in enumerate(sentences):
        if not found or opens_document(sentence):
            found.append([])
        found[-1].append(number)
    return found


def check_calibration(chosen: TrainingOptions, *, learn: bool, has_dev: bool) -> None:
    """Raise ArgumentError if confidences are not to be fitted to parts of the training text."""
    if has_dev:
        raise ArgumentError("calibrate: there is a dev set, which does it; leave one of them out")
    if chosen.learn_dev:
        raise ArgumentError(
            "calibrate: with learn_dev, held-out text does it; leave one of them out"
        )
    if chosen.max_memory is not None:
        raise ArgumentError(
            "calibrate: the text is gone over in parts, which max_memory rules out; leave one of"
            " them out"
        )
    if not learn:
        raise ArgumentError("calibrate: nothing is learned with learn=False; leave it out")


def calibrated_by_folds(
    model: TaggerModel, source: Source, train: Callable[[Source], TaggerModel], seed: int
) -> TaggerModel:
    """Return the model with its columns calibrated on its own training text.

    Each of five parts is labeled by what `train` makes of the others. These are trained on less
    text, so they are wrong a little more often than the model is, and confidences are a little low.
    """
    sentences = list(source)
    found: dict[str, list[CalibrationData]] = {part.column: [] for part in model.parts_by_column}
    found.pop(TEXT, None)
    why = None
    try:
        folds, _ = make_folds(sentences, [*map(len, sentences)], None, seed, FOLDS, running=True)
        for number, fold in enumerate(folds):
            rest, held_out = source.parted(fold)
            with unheard():
                learned = train(rest)
            for part, prepared in as_in_use(learned, list(held_out)):
                if part.column == TEXT:
                    continue
                gold = gold_for(part, list(held_out), part.column)
                inputs: Sequence[Any] = prepared
                data = data_of(make_labeler(part), part.inputs(inputs), gold)
                found[part.column].append(
                    replace(data, folds=np.full(len(data.folds), number, np.int64))
                )
    except FormatError as error:
        why = f"the training text cannot be cut into parts: {error}"
    parts = []
    for part in model.parts_by_column:
        if part.column in found:
            left_out = why
            if why is None:
                part, left_out = fitted(part, pooled(found[part.column]))
            if left_out is not None:
                logger.warning("column %s: not calibrated: %s", part.column, left_out)
        parts.append(part)
    return parts[0].replace(more=tuple(parts[1:]))


def pooled(parts: Sequence[CalibrationData]) -> CalibrationData:
    """Return the data of several models; scores of labels that one lacks can never be best."""
    starts = np.cumsum([0, *(len(part.margins) for part in parts)])[:-1]
    width = max(part.scores.shape[1] for part in parts)

    def padded(rows: npt.NDArray[Any], value: float) -> npt.NDArray[Any]:
        filling = np.full((len(rows), width - rows.shape[1]), value, rows.dtype)
        return np.concatenate([rows, filling], axis=1)

    return CalibrationData(
        margins=np.concatenate([part.margins for part in parts]),
        right=np.concatenate([part.right for part in parts]),
        folds=np.concatenate([part.folds for part in parts]),
        sample=np.concatenate([p.sample + start for p, start in zip(parts, starts, strict=True)]),
        scores=np.concatenate([padded(part.scores, -np.inf) for part in parts]),
        given=np.concatenate([padded(part.given, False) for part in parts]),
        in_dictionary=sum(part.in_dictionary for part in parts),
        right_in_dictionary=sum(part.right_in_dictionary for part in parts),
    )
