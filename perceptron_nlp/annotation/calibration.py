"""How far the scores of a tagger can be believed, by cross-validation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

import perceptron_nlp as pn
from perceptron_nlp.annotation.labels import given_labels, label_names

FOLDS = 5
# In scores; where there are too few tokens to find out.
TEMPERATURE = 2.0
_Z = 1.96
# Between these a temperature is looked for, by so many halvings of the interval's logarithm.
_COLDEST, _HOTTEST, _HALVINGS = 0.125, 256.0, 20
# Sentences whose scores are looked at together.
_TOGETHER = 100

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share, with its interval of 95 %."""

    share: float
    low: float
    high: float

    @classmethod
    def of(cls, share: float, half_width: float) -> Estimate:
        """Return an estimate in the middle of its interval."""
        return cls(share, max(0.0, share - half_width), min(1.0, share + half_width))

    @classmethod
    def of_counts(cls, right: int, total: int) -> Estimate:
        """Return a share that was counted in a random sample (Wilson's interval)."""
        share, square = right / total, _Z * _Z
        middle = (share + square / (2 * total)) / (1 + square / total)
        half = math.sqrt(share * (1 - share) / total + square / (4 * total * total))
        half *= _Z / (1 + square / total)
        return cls(share, round(middle - half, 9), round(middle + half, 9))


@dataclass(frozen=True, slots=True)
class Calibration:
    """Calibration of scores while annotation goes on.

    Attributes
    ----------
    temperature : what scores are divided by before the softmax
    half_width : of the interval of 95 % around a mean confidence
    takes_start : whether the tagger given at the start does better than the one that was trained
    chosen : what the automatic configuration chose then, which scores are comparable with
    """

    temperature: float = TEMPERATURE
    half_width: float = 1.0
    takes_start: bool = True
    chosen: Mapping[str, Any] = field(default_factory=dict)


class CrossCalibration:
    """The calibration of a tagger by cross-validation, a training at a time.

    Parameters
    ----------
    sentences : with labels, FOLDS at least
    column : the one that confidences are about
    train : called with sentences, the column, and options chosen automatically for all of them
    start : the tagger given at the start, which may do better, or None
    """

    def __init__(
        self,
        sentences: Sequence[pn.Sentence],
        column: str,
        train: Callable[..., pn.Tagger],
        start: pn.Tagger | None,
    ) -> None:
        self.sentences = sentences
        self._column = column
        self._train = train
        self._start = start
        self._chosen: dict[str, Any] | None = None
        self._judged = _Judged(column)
        self._folds = list(range(FOLDS))

    def advance(self) -> bool:
        """Do the next training; return False if none is left."""
        if self._chosen is None:
            self._chosen = choices(self._train(self.sentences, self._column))
        elif self._folds:
            fold = self._folds.pop()
            rest = [s for number, s in enumerate(self.sentences) if number % FOLDS != fold]
            tagger = self._train(rest, self._column, **self._chosen)
            self._judged.add(tagger, self.sentences[fold::FOLDS])
        else:
            return False
        return True

    def result(self) -> Calibration:
        """Return the calibration, after all trainings that are left."""
        while self.advance():
            pass
        found, takes_start = self._judged.fitted(), False
        if self._start is not None:
            judged = _Judged(self._column)
            judged.add(self._start.by_column[self._column], self.sentences)
            given = judged.fitted()
            takes_start = given[2] > found[2]
            found = given if takes_start else found
        return Calibration(*found[:2], takes_start, self._chosen or {})


def choices(part: pn.Tagger) -> dict[str, Any]:
    """Return what the automatic configuration chose, as options of another training."""
    return {"templates": part.model.templates, "right_to_left": part.model.right_to_left}


def probabilities(part: pn.Tagger, words: Sequence[str], temperature: float) -> Floats:
    """Return float64[n_words, n_labels]: the softmax of the scores over the temperature."""
    scores = part.scores(words) / temperature
    powers = np.exp(scores - scores.max(1, keepdims=True))
    found: Floats = powers / powers.sum(1, keepdims=True)
    return found


def confidences(
    part: pn.Tagger, sentences: Sequence[Sequence[str]], temperature: float
) -> list[list[float]]:
    """Return for each sentence the probabilities of its words' likeliest labels."""
    found: list[list[float]] = []
    for at in range(0, len(sentences), _TOGETHER):
        some = sentences[at : at + _TOGETHER]
        scores = np.concatenate([part.scores(words) for words in some])
        scores -= scores.max(1, keepdims=True)
        values = iter((1 / np.exp(scores / temperature).sum(1)).tolist())
        found += [list(itertools.islice(values, len(words))) for words in some]
    return found


class _Judged:
    """By how much each label falls short of the best, and if the best is the gold one."""

    def __init__(self, column: str) -> None:
        self._column = column
        self._leads: list[Floats] = []
        self._right: list[npt.NDArray[np.bool_]] = []

    def add(self, part: pn.Tagger, sentences: Sequence[pn.Sentence]) -> None:
        """Judge a tagger by sentences that it has not seen."""
        labels = np.array(label_names(part), object)
        for sentence in sentences:
            given = given_labels(sentence, self._column)
            gold, has_label = np.array(given, object), [label is not None for label in given]
            scores = part.scores(sentence.words)[has_label]
            self._leads += list(scores - scores.max(1, keepdims=True))
            self._right.append(labels[scores.argmax(1)] == gold[has_label])

    def fitted(self) -> tuple[float, float, float]:
        """Return the temperature, half the width of the interval, and the accuracy.

        At that temperature the mean confidence is the accuracy.
        """
        widest = max(map(len, self._leads))
        # Folds need not know the same labels.
        table = np.full((len(self._leads), widest), -np.inf)
        for row, own in zip(table, self._leads, strict=True):
            row[: len(own)] = own
        is_right = np.concatenate(self._right)

        def sure(temperature: float) -> Floats:
            found: Floats = 1 / np.exp(table / temperature).sum(1)
            return found

        accuracy = float(is_right.mean())
        low, high = _COLDEST, _HOTTEST
        for _ in range(_HALVINGS):
            middle = math.sqrt(low * high)
            too_sure = bool(sure(middle).mean() > accuracy)
            low, high = (middle, high) if too_sure else (low, middle)
        # The last bits depend on the machine.
        best = round(low, 4)
        spread = float((is_right - sure(best)).std())
        return best, round(_Z * spread / math.sqrt(len(is_right)), 6), accuracy
