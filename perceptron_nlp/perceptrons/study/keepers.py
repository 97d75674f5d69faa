"""The rows of the cost table: each way to keep weights, and how it should grow.

Source of the costs: L. Huang, the table of the voted and averaged perceptrons.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from perceptron_nlp._core.table.weights import WeightTable
from perceptron_nlp.perceptrons import textbook as tb

VARIABLES = ("d", "D", "U")
"""Features, examples, updates."""


@dataclass(frozen=True)
class Growth:
    """A cost as the table states it: its formula, and its power of each variable.

    Where the formula is a sum, as U·d_Δ + d, the power of a variable is that of the
    term it stands in, to be seen where that term is the greater.
    """

    formula: str
    powers: tuple[int, int, int]


ONE_VECTOR = Growth("d", (1, 0, 0))
EVERY_VECTOR = Growth("T·D·d", (1, 1, 0))
EVERY_DISTINCT = Growth("U·d", (1, 0, 1))
BY_UPDATES = Growth("U·d_Δ + d", (1, 0, 1))
UPDATES_KEPT = Growth("d + U·d_Δ", (1, 0, 1))


@dataclass(frozen=True)
class Keeper:
    """A way to keep weights.

    Attributes
    ----------
    ids : the learners of the row, as L7
    name : what the table calls it
    keep : does it, on a stream of updates
    space, time : the costs that the table states
    every_example : whether it does something after every example, not only at updates
    in_core : whether it works outside NumPy, where its elements cannot be counted
    """

    ids: str
    name: str
    keep: Callable[[tb.Stream], object]
    space: Growth
    time: Growth
    every_example: bool = False
    in_core: bool = False


def last_weights(stream: tb.Stream) -> tb.Stream:
    """The stream with nothing kept but the last weights, as L1 to L4 do."""
    w = stream.start.copy()
    for step in stream.steps:
        if step.delta:
            step.delta.add_to(w)
    return tb.Stream(w, [])


def core_lazy(stream: tb.Stream) -> WeightTable:
    """The table of this library's core after the stream and the average.

    Every feature gets a row first, as it would have after an update that touched it.
    """
    table = WeightTable(1)
    table.update(np.arange(len(stream.start), dtype=np.uint64), 0, 1.0)
    for step in stream.steps:
        if step.delta:
            table.update(step.delta.index.astype(np.uint64), 0, 1.0, step.delta.value)
        table.advance(step.examples)
    table.average()
    return table


KEEPERS = (
    Keeper("L1-L4", "vanilla", last_weights, ONE_VECTOR, BY_UPDATES),
    Keeper("L5", "voted naive", tb.Stream.trace, EVERY_VECTOR, EVERY_VECTOR, True),
    Keeper("L6", "voted improved", tb.distinct, EVERY_DISTINCT, EVERY_DISTINCT),
    Keeper("L7", "averaged naive", tb.averaged_naive, ONE_VECTOR, EVERY_VECTOR, True),
    Keeper("L8", "averaged improved", tb.averaged_improved, EVERY_DISTINCT, EVERY_DISTINCT),
    Keeper("L9", "averaged, Δw", tb.averaged_by_updates, UPDATES_KEPT, BY_UPDATES),
    Keeper("L10", "averaged, count-down", tb.averaged_countdown, ONE_VECTOR, BY_UPDATES),
    Keeper("L11", "averaged, counter", tb.averaged_counter, ONE_VECTOR, BY_UPDATES),
    Keeper("L12", "averaged, lazy", tb.averaged_lazy, ONE_VECTOR, BY_UPDATES),
    Keeper("L12", "in the core", core_lazy, ONE_VECTOR, BY_UPDATES, in_core=True),
)
