"""How far the scores of a tagger can be believed, and how good it is by sentences held out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

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
# Degrees of freedom for the variance that confidences foretell, and how many times it is larger
# since tokens of a sentence go wrong together; benchmarks/annotation.py counts what intervals hold.
_PRIOR = 4
_TOGETHERNESS = 2.0
# Sentences whose scores are looked at together.
_TOGETHER = 100

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share, with its interval of 95 %."""

    share: float
    low: float
    high: float


class Judged(NamedTuple):
    """A sentence that was tagged by one that has not learned it.

    Attributes
    ----------
    n_tokens : those that have a gold label
    excess : by how many more of them are right than their confidences add up to
    variance : that of the excess, if confidences are right
    """

    n_tokens: int
    excess: float
    variance: float

    @classmethod
    def of(cls, part: pn.Tagger, sentence: pn.Sentence, column: str, temperature: float) -> Judged:
        """Judge a sentence by its gold labels, which may be missing."""
        leads, right = _judged(part, sentence, column)
        sure = softmax(leads, temperature).max(1, initial=0.0)
        excess, variance = float((right - sure).sum()), float((sure * (1 - sure)).sum())
        return cls(len(right), round(excess, 6), round(variance, 6))


def estimate(confidence: float, sample: Sequence[Judged]) -> Estimate | None:
    """Return the accuracy on a text; None without a sample.

    The sample corrects the mean confidence by its mean excess (a difference estimator: C.-E.
    Särndal and others, 1992, "Model Assisted Survey Sampling", chapter 6). Tokens of a sentence go
    right and wrong together, so the variance is that between sentences, by leaving out each in
    turn. Of few sentences that says little: it counts as much as one degree of freedom for each,
    and what confidences foretell counts as much as _PRIOR more.

    Parameters
    ----------
    confidence : the mean over the text
    sample : sentences of the text drawn at random
    """
    total = sum(one.n_tokens for one in sample)
    if not total:
        return None
    bias = math.fsum(one.excess for one in sample) / total
    freedom = len(sample) - 1
    squares = 0.0
    if freedom and all(one.n_tokens < total for one in sample):
        left_out = [(bias * total - one.excess) / (total - one.n_tokens) for one in sample]
        mean = math.fsum(left_out) / len(left_out)
        squares = freedom / len(sample) * math.fsum((x - mean) ** 2 for x in left_out)
    else:
        freedom = 0
    foretold = _TOGETHERNESS * math.fsum(one.variance for one in sample) / total**2
    freedom += _PRIOR
    variance = (_PRIOR * foretold + (freedom - _PRIOR) * squares) / freedom
    half = _student(freedom) * math.sqrt(variance)
    share, low, high = (
        round(min(1.0, max(0.0, confidence + bias + more)), 6) for more in (0.0, -half, half)
    )
    return Estimate(share, low, high)


def _student(freedom: int) -> float:
    """Return how many deviations hold 95 % of Student's distribution; freedom is _PRIOR or more."""
    # E. A. Cornish and R. A. Fisher, 1938, "Moments and cumulants in the specification of
    # distributions".
    z = 1.959964
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return sum(term / float(freedom) ** power for power, term in enumerate(terms))


@dataclass(frozen=True, slots=True)
class Calibration:
    """Calibration of scores while annotation goes on.

    Attributes
    ----------
    temperature : what scores are divided by before the softmax
    takes_start : whether the tagger given at the start does better than the one that was trained
    chosen : what the automatic configuration chose then, which scores are comparable with
    """

    temperature: float = TEMPERATURE
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
        self._found = Calibration(found, takes_start, chosen)


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
        for sentence in sentences:
            leads, right = _judged(part, sentence, self._column)
            self._leads += list(leads)
            self._right += right.tolist()

    @property
    def accuracy(self) -> float:
        """The share of words whose best label is the gold one."""
        return sum(self._right) / len(self._right)

    def fitted(self) -> float:
        """Return the temperature."""
        # Folds need not know the same labels.
        table = np.full((len(self._leads), max(2, *map(len, self._leads))), -np.inf)
        for row, own in zip(table, self._leads, strict=True):
            row[: len(own)] = own
        is_right = np.array(self._right)

        def loss(temperature: float) -> float:
            return float(log_losses(softmax(table, temperature).max(1), is_right).mean())

        return fit_temperature(np.sort(table, 1)[:, -2], loss)


def _judged(
    part: pn.Tagger, sentence: pn.Sentence, column: str
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return by how much labels fall short of the best, and if that is the gold one, by token."""
    names = label_names(part)
    gold = given_labels(sentence, column)
    scores = part.scores(sentence.words)
    right = [names[best] == label for best, label in zip(scores.argmax(1), gold, strict=True)]
    given = np.array([label is not None for label in gold])
    return (scores - scores.max(1, keepdims=True))[given], np.array(right)[given]
