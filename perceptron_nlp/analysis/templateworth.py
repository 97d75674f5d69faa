"""The worth of a model's templates: what each takes of the file, and what is lost without it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from perceptron_nlp import Sentence, Tagger, TaggerModel
from perceptron_nlp.tagger.model.weights import Writer


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


def sizes(model: TaggerModel, packed: bool) -> tuple[TemplateWorth, ...]:
    """The templates of one column, or one pass of it, without what they give on a dev set."""
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


def accuracy_lost(
    model: TaggerModel, dev: Sequence[Sentence], threads: int
) -> tuple[float, list[float]]:
    """The accuracy of a model of one column on a dev set, and what goes without each template.

    In a fixed table a template goes by not being looked at; what its features added to rows that
    others share stays there.
    """

    def accuracy(one: TaggerModel) -> float:
        return Tagger(one).evaluate(dev, threads=threads).accuracy

    whole = accuracy(model)
    return whole, [whole - accuracy(one) for one in _each_without_one(model)]


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
