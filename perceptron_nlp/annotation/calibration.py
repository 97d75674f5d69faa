"""How far the scores of a tagger can be believed, by cross-validation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

import perceptron_nlp as pn
from perceptron_nlp.annotation.labels import given_labels, label_names
from perceptron_nlp.crossfit import crossfit, in_turn
from perceptron_nlp.probability import fit_temperature, log_losses, softmax

FOLDS = 5
# Up to so many tokens, words are asked for that are common and were not seen; then doubtful ones.
COVERAGE = 1000
# In scores; where there are too few tokens to find out.
TEMPERATURE = 2.0
_Z = 1.96
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
    excess : by how much the accuracy of the folds is more than their mean confidence
    half_width : of the interval of 95 % around a mean confidence and that excess
    takes_start : whether the tagger given at the start does better than the one that was trained
    chosen : what the automatic configuration chose then, which scores are comparable with
    """

    temperature: float = TEMPERATURE
    excess: float = 0.0
    half_width: float = 1.0
    takes_start: bool = True
    chosen: Mapping[str, Any] = field(default_factory=dict)

    def estimate(self, confidences: Sequence[float]) -> Estimate:
        """Return the accuracy on words that were labeled with these confidences."""
        share = round(sum(confidences) / len(confidences) + self.excess, 6)
        return Estimate.of(min(1.0, max(0.0, share)), self.half_width)


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
        self._found = Calibration()
        self._trainings = self._trained(column, train, start)

    def advance(self) -> None:
        """Do the next training, if one is left."""
        next(self._trainings, None)

    def result(self) -> Calibration:
        """Return the calibration, after all trainings that are left."""
        for _ in self._trainings:
            pass
        return self._found

    def _trained(
        self, column: str, train: Callable[..., pn.Tagger], start: pn.Tagger | None
    ) -> Iterator[None]:
        part = train(self.sentences, column)
        chosen = {"templates": part.model.templates, "right_to_left": part.model.right_to_left}
        judged = _Judged(column)
        yield

        def learned(numbers: list[int]) -> pn.Tagger:
            return train([self.sentences[number] for number in numbers], column, **chosen)

        def used(tagger: pn.Tagger, numbers: list[int]) -> None:
            judged.add(tagger, [self.sentences[number] for number in numbers])

        yield from crossfit(in_turn(range(len(self.sentences)), FOLDS), learned, used)
        found, takes_start = judged.fitted(), False
        if start is not None:
            given = _Judged(column)
            given.add(start.by_column[column], self.sentences)
            takes_start = given.accuracy > judged.accuracy
            found = given.fitted() if takes_start else found
        self._found = Calibration(*found, takes_start, chosen)


def confidences(
    part: pn.Tagger, sentences: Sequence[Sequence[str]], temperature: float
) -> list[list[float]]:
    """Return for each sentence the probabilities of its words' likeliest labels."""
    found: list[list[float]] = []
    for at in range(0, len(sentences), _TOGETHER):
        some = sentences[at : at + _TOGETHER]
        shares = softmax(np.concatenate([part.scores(words) for words in some]), temperature)
        ends = np.cumsum([len(words) for words in some])[:-1]
        found += [own.tolist() for own in np.split(shares.max(1), ends)]
    return found


class _Judged:
    """By how much each label falls short of the best, and if the best is the gold one."""

    def __init__(self, column: str) -> None:
        self._column = column
        self._leads: list[Floats] = []
        self._right: list[bool] = []

    def add(self, part: pn.Tagger, sentences: Sequence[pn.Sentence]) -> None:
        """Judge a tagger by sentences that it has not seen."""
        names = label_names(part)
        for sentence in sentences:
            gold = given_labels(sentence, self._column)
            for scores, label in zip(part.scores(sentence.words), gold, strict=True):
                if label is not None:
                    self._leads.append(scores - scores.max())
                    self._right.append(names[scores.argmax()] == label)

    @property
    def accuracy(self) -> float:
        """The share of words whose best label is the gold one."""
        return sum(self._right) / len(self._right)

    def fitted(self) -> tuple[float, float, float]:
        """Return the temperature, and the excess and half the width of a Calibration."""
        # Folds need not know the same labels.
        table = np.full((len(self._leads), max(2, *map(len, self._leads))), -np.inf)
        for row, own in zip(table, self._leads, strict=True):
            row[: len(own)] = own
        is_right = np.array(self._right)

        def sure(temperature: float) -> Floats:
            found: Floats = softmax(table, temperature).max(1)
            return found

        def loss(temperature: float) -> float:
            return float(log_losses(sure(temperature), is_right).mean())

        temperature = fit_temperature(np.sort(table, 1)[:, -2], loss)
        residuals = is_right - sure(temperature)
        half_width = _Z * float(residuals.std()) / math.sqrt(len(is_right))
        return temperature, round(float(residuals.mean()), 6), round(half_width, 6)
