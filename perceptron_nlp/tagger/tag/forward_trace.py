"""Forward trace of a sentence: labels, scores, and what each feature added to them.

Nothing that makes tagging fast takes part here, so what is said of a score does not depend on how
it was summed (sentence_features.py).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from perceptron_nlp.features.readable import ReadableFeatures
from perceptron_nlp.tagger.tag.sentence_features import Keys, ModelFeatures, SentenceFeatures

_Floats = npt.NDArray[np.float64]
_Longs = npt.NDArray[np.int64]


class WeighedFeature(NamedTuple):
    """A feature of a word, and what it says of two labels.

    Attributes
    ----------
    template : the template that made it, as ``lower[0] tag[-1]``. Offsets count words in the order
        of the text, here and in `text`: where a tagger reads right to left, the label given one
        step ago, ``tag[-1]`` in its list of templates, is ``tag[+1]``
    text : what it saw, such as ``lower[0]=dog tag[-1]=DET``
    weight : its weight for the label that the word got, in the units of ``Tagger.scores``: what it
        adds to the label's score
    runner_up_weight : its weight for the runner-up; 0 where there is none
    """

    template: str
    text: str
    weight: float
    runner_up_weight: float

    @property
    def margin(self) -> float:
        """Contribution to the margin: above 0, it speaks for the predicted label."""
        return self.weight - self.runner_up_weight

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON has them."""
        return {**self._asdict(), "margin": self.margin}


class ForwardTrace:
    """A sentence as one model, or one pass of it, read it.

    columns : those that it looks at, by name, the words first

    numbers : the numbers of the labels that its words got, as they are learned
    scores : float64[n_words, n_labels]: what all labels scored after the labels given before
    first : the trace of the first tagger of a stack, or None
    """

    def __init__(
        self,
        features: ModelFeatures,
        columns: Mapping[str, Sequence[str]],
        numbers: list[int],
        first: ForwardTrace | None,
    ) -> None:
        self.model = features.model
        self._readable = features.readable
        self.numbers = numbers
        self.first = first
        self._columns = columns
        self._features = SentenceFeatures(features, columns)
        starts, makers, grams, rows, scores = self._features.fired(numbers)
        self._fired = starts, makers, grams, rows
        self.scores: _Floats = scores / self.model.weights.scale

    def compared(self, ours: Sequence[int], theirs: Sequence[int]) -> ComparedFeatures:
        """Return the features with their weights for two labels a word; -1 stands for no label."""
        starts, templates, grams, rows = self._fired
        weights = np.stack(
            [
                self._features.weights(starts, rows, ours),
                self._features.weights(starts, rows, theirs),
            ]
        )
        words = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        order = np.lexsort((-np.abs(weights[0] - weights[1]), words))
        return ComparedFeatures(
            self.readings(),
            starts,
            templates[order],
            grams[order],
            weights[:, order] / self.model.weights.scale,
        )

    def readings(self) -> ReadableFeatures:
        """Return the features as text."""
        labels = [self.model.tags.label_of(number) for number in self.numbers]
        return ReadableFeatures(self._readable, self._columns, labels)

    def keyed(self) -> tuple[_Longs, _Longs, _Longs, Keys]:
        """Return all features, with weights or without: see SentenceFeatures.keyed."""
        return self._features.keyed(self.numbers)

    def after(self, i: int, given: Sequence[int]) -> _Floats:
        """Return the scores of all labels at word i after those given so far, in their order."""
        return self._features.after(i, given[:-5:-1]) / self.model.weights.scale


@dataclass(frozen=True, eq=False)
class ComparedFeatures:
    """The features of a sentence, weighed for two labels of each word."""

    readings: ReadableFeatures
    starts: _Longs
    templates: _Longs
    grams: _Longs
    weights: _Floats

    @functools.cached_property
    def _lists(self) -> tuple[list[int], list[int], list[int], list[float], list[float]]:
        # Single items of lists come faster than those of arrays.
        ours, theirs = self.weights.tolist()
        return self.starts.tolist(), self.templates.tolist(), self.grams.tolist(), ours, theirs

    def features(self, i: int, top: int | None) -> list[WeighedFeature]:
        """Return the features of word i that have weights: the `top` (None: all) that move the
        margin most, the first of them first."""
        starts, templates, grams, ours, theirs = self._lists
        begin, end = starts[i], starts[i + 1]
        name, seen = self.readings.name, self.readings.feature
        return [
            WeighedFeature(name(templates[k]), seen(templates[k], i, grams[k]), ours[k], theirs[k])
            for k in range(begin, end if top is None else min(end, begin + top))
        ]

    def count(self, i: int) -> int:
        """Return the number of features of word i."""
        return int(self.starts[i + 1] - self.starts[i])
