"""The features that a model's templates make of a text.

A model holds hashes of its features and not their names, so what a row of its table stands for
can only be told of features that some text has. Here the templates are run over a text, and each
feature is known by the first place that has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_nlp import Sentence, TaggerModel
from perceptron_nlp.errors import ArgumentError, quote
from perceptron_nlp.features.readable import ReadableFeatures
from perceptron_nlp.tagger.model.label_components import part_numbers
from perceptron_nlp.tagger.tag.label import Labeler
from perceptron_nlp.tagger.tag.sentence_features import rows_of

_CONTEXT = 2
_FEATURE = np.dtype([("template", np.int64), ("key", np.uint64)])


@dataclass(frozen=True, slots=True)
class FoundFeature:
    """A feature with a weight for the label asked for, in the units of scores.

    text : what it saw, such as ``lower[0]=dog tag[-1]=DET``, offsets in the order of the text
        (features/readable.py)
    word, before, after : the first place in the text that has it: the word being tagged, and up to
        two words on either side
    count : how often the text has it
    """

    template: str
    text: str
    weight: float
    word: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """Numbers of a text's features: all, those with weights, and those that share a row."""

    features: int
    with_weights: int
    sharing: int


class FeatureSearch:
    """The features that a model of one column with templates makes of a text."""

    def __init__(self, model: TaggerModel, sentences: Sequence[Sentence]) -> None:
        self._model = model
        labeler = Labeler(model)
        self._readings: list[ReadableFeatures] = []
        none = np.empty(0, np.int64)
        found: list[tuple[npt.NDArray[Any], ...]] = [(np.empty(0, _FEATURE), none, none, none)]
        for number, sentence in enumerate(labeler.prepared(sentences)):
            trace = labeler.trace(sentence)
            self._readings.append(trace.readings())
            starts, templates, grams, keys = trace.keyed()
            features = np.empty(len(keys), _FEATURE)
            features["template"], features["key"] = templates, keys
            words = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
            found.append((features, np.full(len(keys), number), words, grams))
        features, *places = map(np.concatenate, zip(*found, strict=True))
        self._features, first, self._counts = np.unique(
            features, return_index=True, return_counts=True
        )
        self._places = np.stack([numbers[first] for numbers in places], axis=1)
        self._rows = rows_of(model, self._features["template"], self._features["key"])

    def coverage(self) -> Coverage:
        """Count the text's features, and their rows in the table."""
        in_row = np.unique(self._rows[self._rows >= 0], return_counts=True)[1]
        return Coverage(len(self._rows), int(in_row.sum()), int(in_row[in_row > 1].sum()))

    def heaviest(self, label: str, top: int) -> tuple[FoundFeature, ...]:
        """The features with most weight for and against a label, by its absolute value."""
        model = self._model
        if label not in model.tags.labels:
            raise ArgumentError(f"label: the model has no label {quote(label)}")
        wanted = [model.tags.id_of(label)]
        if model.parts is not None:
            wanted = part_numbers(model.tags.labels, model.parts)[0][wanted[0]]
        counts = np.diff(model.weights.starts)
        row_of_cell = np.repeat(np.arange(len(counts)), counts)
        cells = np.isin(model.weights.labels, wanted)
        sums = np.bincount(row_of_cell[cells], model.weights.weights[cells], len(counts))
        weights = np.where(self._rows < 0, 0, np.append(sums, 0)[self._rows]) / model.weights.scale
        order = np.argsort(-np.abs(weights), kind="stable")[:top].tolist()
        return tuple(self._found(n, float(weights[n])) for n in order if weights[n])

    def _found(self, feature: int, weight: float) -> FoundFeature:
        number, i, gram = self._places[feature].tolist()
        template = int(self._features["template"][feature])
        readings = self._readings[number]
        words = tuple(readings.columns["form"])
        return FoundFeature(
            readings.name(template),
            readings.feature(template, i, gram),
            weight,
            words[i],
            words[max(0, i - _CONTEXT) : i],
            words[i + 1 : i + 1 + _CONTEXT],
            int(self._counts[feature]),
        )
