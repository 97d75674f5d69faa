"""The worth of a model's templates, and the features that they make of a text.

A model holds hashes of its features and not their names, so what a row of its table stands for
can only be told of features that some text has. Here the templates are run over a text, and each
feature is known by the first place that has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_nlp import Sentence, Tagger, TaggerModel
from perceptron_nlp.errors import ArgumentError, quote
from perceptron_nlp.features.readable import ReadableFeatures
from perceptron_nlp.tagger.model.label_components import part_numbers
from perceptron_nlp.tagger.model.weights import Writer
from perceptron_nlp.tagger.tag.label import Labeler
from perceptron_nlp.tagger.tag.sentence_features import rows_of


@dataclass(frozen=True, slots=True)
class TemplateWorth:
    """A template of a model.

    template : its text, offsets in the order of the text: ``tag[+1]`` is the label of the next word
        where labels are given from right to left
    rows, weights : how many features it has, and weights of these that are not 0; None in a fixed
        table, whose rows belong to all templates
    bytes : what it takes of the file; None in a fixed table and in a packed file
    weight_sum : the sum of its weights' absolute values, in the units of scores; None in a fixed
        table
    accuracy_lost : how much of the accuracy on the dev set (a fraction of 1) goes when its
        weights are 0 and nothing is trained again; None without a dev set
    """

    template: str
    rows: int | None
    weights: int | None
    bytes: int | None
    weight_sum: float | None
    accuracy_lost: float | None = None


def worth(
    model: TaggerModel, packed: int, dev: Sequence[Sentence] | None = None, threads: int = 1
) -> tuple[tuple[TemplateWorth, ...], float | None]:
    """Return the templates of one column, or one pass of it, and its accuracy on a dev set.

    In a fixed table a template goes by not being looked at; what its features added to rows that
    others share stays there.
    """
    found = _sizes(model, packed)
    if dev is None:
        return found, None

    def accuracy(one: TaggerModel) -> float:
        return Tagger(one).evaluate(dev, threads=threads).accuracy

    whole = accuracy(model)
    each = zip(found, _each_without_one(model), strict=True)
    return tuple(replace(one, accuracy_lost=whole - accuracy(left)) for one, left in each), whole


def _sizes(model: TaggerModel, packed: int) -> tuple[TemplateWorth, ...]:
    weights = model.weights
    names = [template.in_text_order(model.right_to_left) for template in model.templates]
    if weights.table_bits is not None:
        return tuple(TemplateWorth(name, None, None, None, None) for name in names)
    arrays: dict[str, Any] = {}
    weights.write(Writer("", arrays))
    a_row, a_weight = (
        sum(arrays[name].itemsize for name in parts)
        for parts in (("keys", "counts"), ("labels", "weights"))
    )
    ends = weights.starts[weights.group_starts]
    heavy = np.concatenate([[0], np.cumsum(np.abs(weights.weights.astype(np.int64)))])
    found = []
    for number, name in enumerate(names):
        rows = int(weights.group_starts[number + 1] - weights.group_starts[number])
        cells = int(ends[number + 1] - ends[number])
        total = int(heavy[ends[number + 1]] - heavy[ends[number]]) / weights.scale
        n_bytes = None if packed else rows * a_row + cells * a_weight
        found.append(TemplateWorth(name, rows, cells, n_bytes, total))
    return tuple(found)


def _each_without_one(model: TaggerModel) -> Iterator[TaggerModel]:
    for number in range(len(model.templates)):
        yield (
            _emptied(model, number)
            if model.weights.table_bits is None or len(model.templates) == 1
            else _taken_out(model, number)
        )


def _emptied(model: TaggerModel, number: int) -> TaggerModel:
    """The model without a template's rows; of a fixed table, without any."""
    weights = model.weights
    first, last = weights.group_starts[number], weights.group_starts[number + 1]
    from_cell, to_cell = weights.starts[first], weights.starts[last]
    group_starts = weights.group_starts.copy()
    group_starts[number + 1 :] -= last - first
    starts = np.concatenate([weights.starts[:first], weights.starts[last:] - to_cell + from_cell])
    return model.replace(
        weights=weights.replace(
            keys=np.delete(weights.keys, slice(first, last)),
            group_starts=group_starts,
            starts=starts,
            labels=np.delete(weights.labels, slice(from_cell, to_cell)),
            weights=np.delete(weights.weights, slice(from_cell, to_cell)),
        )
    )


def _taken_out(model: TaggerModel, number: int) -> TaggerModel:
    """The model without a template; its rows all stand in the first group."""
    templates = model.templates[:number] + model.templates[number + 1 :]
    return model.replace(
        templates=templates,
        weights=model.weights.replace(group_starts=model.weights.group_starts[:-1]),
    )


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
