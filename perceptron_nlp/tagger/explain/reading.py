"""A sentence as a model read it: labels, scores, and what each feature added to them.

Nothing that makes tagging fast takes part here, so what is said of a score does not depend on how
it was summed (perceptron_nlp._core.tag.explain).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.tag.decode import SentenceDecoder
from perceptron_nlp._core.tag.explain import SentenceFeatures
from perceptron_nlp.features.readable import ReadableTemplates, Readings
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.tag.extractor import Extractor, Features, extract
from perceptron_nlp.tagger.tag.wordbytes import word_bytes
from perceptron_nlp.text.sentence import Sentence

_Floats = npt.NDArray[np.float64]
_Longs = npt.NDArray[np.int64]


class WeighedFeature(NamedTuple):
    """A feature of a word, and what it says of two labels.

    Attributes
    ----------
    template : the template that made it, as it is written in the list of templates; ``""`` where
        a function made it
    text : what it saw, such as ``lower[0]=dog tag[-1]=DET``; what the function called it
    value : 1, or what the function gave
    weight : its weight for the label that the word got, in the units of ``Tagger.scores``
    runner_up_weight : its weight for the runner-up; 0 where there is none
    """

    template: str
    text: str
    value: float
    weight: float
    runner_up_weight: float

    @property
    def score(self) -> float:
        """What it adds to the score of the label that the word got."""
        return self.value * self.weight

    @property
    def runner_up_score(self) -> float:
        """What it adds to the score of the runner-up."""
        return self.value * self.runner_up_weight

    @property
    def margin(self) -> float:
        """What it adds to the margin: above 0, it speaks for the label that the word got."""
        return self.score - self.runner_up_score

    def to_dict(self) -> dict[str, Any]:
        """What it is made of, as JSON has it."""
        return {
            "template": self.template,
            "text": self.text,
            "value": self.value,
            "weight": self.weight,
            "runner_up_weight": self.runner_up_weight,
            "margin": self.margin,
        }


class Compared(Protocol):
    """The features of a sentence, weighed for two labels of each word."""

    def features(self, i: int, top: int | None) -> list[WeighedFeature]:
        """Those of word i that the model has weights for: the `top` (None: all) that move the
        margin most, the first of them first."""

    def count(self, i: int) -> int:
        """How many word i has in all."""


class Reading(Protocol):
    """A sentence as one model, or one pass of it, read it.

    Attributes
    ----------
    model : the model
    numbers : the numbers of the labels that its words got, as they are learnt
    scores : float64[n_words, n_labels]: what all labels scored after the labels given before
    first : the reading of the first pass, or None
    """

    model: TaggerModel
    numbers: list[int]
    scores: _Floats
    first: Reading | None

    def compared(self, ours: Sequence[int], theirs: Sequence[int]) -> Compared:
        """Features with their weights for two labels a word; -1 stands for no label."""

    def after(self, i: int, given: Sequence[int]) -> _Floats:
        """What all labels score for word i after those given so far, the first one first."""


class TemplateReading:
    """How a model with templates read a sentence; see Reading.

    Parameters
    ----------
    model, decoder : the model, and the core's form of it
    templates : its templates, to be read by people
    columns : the columns that it looks at, by name, the words first
    numbers : the labels that it gave
    first : the reading of the first pass, or None
    """

    def __init__(
        self,
        model: TaggerModel,
        decoder: SentenceDecoder,
        templates: ReadableTemplates,
        columns: Mapping[str, Sequence[str]],
        numbers: list[int],
        first: Reading | None,
    ) -> None:
        self.model = model
        self._readable = templates
        self.numbers = numbers
        self.first = first
        self._columns = columns
        self._features = SentenceFeatures(
            decoder, [[word_bytes(text) for text in column] for column in columns.values()]
        )
        starts, makers, grams, rows, scores = self._features.fired(numbers)
        self._fired = starts, makers, grams, rows
        self.scores: _Floats = scores / model.weights.scale

    def compared(self, ours: Sequence[int], theirs: Sequence[int]) -> Compared:
        """See Reading."""
        starts, templates, grams, rows = self._fired
        weights = np.stack(
            [
                self._features.weights(starts, rows, ours),
                self._features.weights(starts, rows, theirs),
            ]
        )
        words = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        order = np.lexsort((-np.abs(weights[0] - weights[1]), words))
        labels = [self.model.tags.label_of(number) for number in self.numbers]
        return _TemplateFeatures(
            Readings(self._readable, self._columns, labels, self.model.right_to_left),
            starts,
            templates[order],
            grams[order],
            weights[:, order] / self.model.weights.scale,
        )

    def after(self, i: int, given: Sequence[int]) -> _Floats:
        """See Reading."""
        return self._features.after(i, given[:-5:-1]) / self.model.weights.scale


@dataclass(frozen=True, eq=False)
class _TemplateFeatures:
    readings: Readings
    starts: _Longs
    templates: npt.NDArray[np.int32]
    grams: npt.NDArray[np.int32]
    weights: _Floats

    @functools.cached_property
    def _lists(self) -> tuple[list[int], list[int], list[int], list[float], list[float]]:
        # Single items of lists come faster than those of arrays.
        ours, theirs = self.weights.tolist()
        return self.starts.tolist(), self.templates.tolist(), self.grams.tolist(), ours, theirs

    def features(self, i: int, top: int | None) -> list[WeighedFeature]:
        starts, templates, grams, ours, theirs = self._lists
        begin, end = starts[i], starts[i + 1]
        name, seen = self.readings.name, self.readings.feature
        return [
            WeighedFeature(
                name(templates[k]), seen(templates[k], i, grams[k]), 1.0, ours[k], theirs[k]
            )
            for k in range(begin, end if top is None else min(end, begin + top))
        ]

    def count(self, i: int) -> int:
        return int(self.starts[i + 1] - self.starts[i])


class Recorder:
    """A feature function that remembers what it gave.

    Attributes
    ----------
    found : by the number of the word, what the function returned for it last
    """

    def __init__(self, function: Extractor) -> None:
        self._function = function
        self.__module__ = getattr(function, "__module__", None) or "?"
        self.__qualname__ = getattr(function, "__qualname__", type(function).__qualname__)
        self.found: dict[int, Features] = {}

    def __call__(self, tokens: Sentence, i: int, history: list[str]) -> Features:
        found = self._function(tokens, i, history)
        if not isinstance(found, Mapping | str | bytes) and isinstance(found, Iterable):
            found = list(found)
        self.found[i] = found
        return found


class FunctionReading:
    """How a model with a feature function read a sentence; see Reading.

    Parameters
    ----------
    model, decoder : the model, and the core's form of it
    function : the function
    sentence : the sentence
    numbers : the labels that it gave
    scores : what they scored; 0 for a word that the function was not asked about
    found : what the function gave for each word
    """

    def __init__(
        self,
        model: TaggerModel,
        decoder: SentenceDecoder,
        function: Extractor,
        sentence: Sentence,
        numbers: list[int],
        scores: _Floats,
        found: Mapping[int, Features],
    ) -> None:
        self.model = model
        self.numbers = numbers
        self.scores = scores
        self.first: Reading | None = None
        self._decoder = decoder
        self._function = function
        self._sentence = sentence
        self._found = found

    def compared(self, ours: Sequence[int], theirs: Sequence[int]) -> Compared:
        """See Reading."""
        return _FunctionFeatures(self, ours, theirs)

    def after(self, i: int, given: Sequence[int]) -> _Floats:
        """See Reading."""
        history = [self.model.tags.label_of(number) for number in given]
        keys, values = extract(self._function, self._sentence, i, history)
        return self._decoder.score(keys, values) / self.model.weights.scale

    def weighed(self, i: int) -> list[tuple[str, float, _Floats]]:
        """The features of a word: name, value, and the weights for all labels."""
        if i not in self._found:
            return []
        found = self._found[i]
        keys, values = extract(lambda *_: found, self._sentence, i, [])
        numbers = [1.0] * len(keys) if values is None else values.tolist()
        return [
            (name, value, self._decoder.score(keys[k : k + 1]) / self.model.weights.scale)
            for k, (name, value) in enumerate(zip(found, numbers, strict=True))
        ]


@dataclass(frozen=True, slots=True, eq=False)
class _FunctionFeatures:
    reading: FunctionReading
    ours: Sequence[int]
    theirs: Sequence[int]

    def features(self, i: int, top: int | None) -> list[WeighedFeature]:
        found = self._all(i)
        found.sort(key=lambda feature: -abs(feature.margin))
        return found[:top]

    def count(self, i: int) -> int:
        return len(self._all(i))

    def _all(self, i: int) -> list[WeighedFeature]:
        our, their = self.ours[i], self.theirs[i]
        return [
            WeighedFeature(
                "", name, value, float(weights[our]), 0.0 if their < 0 else float(weights[their])
            )
            for name, value, weights in self.reading.weighed(i)
            if weights.any()
        ]
