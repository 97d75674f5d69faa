"""The cost of keeping weights as d, D and U grow: measured and fitted, for each way of keeping.

Each row of the cost table (L. Huang's, of the voted and averaged perceptrons) runs as the textbook
has it on streams of updates, so that the scoring of examples, which all rows share, is left out.
Three things are measured: array elements worked on, bytes at the peak, and processor seconds. One
variable doubles while the others stay; the slope of log cost over log size is the fitted power.

If the table has d or U in a formula, the fit is to the cost less that of the smallest stream (only
the features of one update, or no update); so each term of a sum is seen by itself.
"""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp._core.table.weights import WeightTable
from perceptron_nlp.perceptrons import textbook as tb
from perceptron_nlp.sampling import permutation


@dataclass
class Counter:
    """Array elements that were copied, computed, picked out or written so far."""

    elements: int = 0


class CountedArray(np.ndarray[Any, np.dtype[Any]]):
    """An array that tells a `Counter` of every element that is worked on.

    Copies, arithmetic and picks by index give counted arrays again, with the same counter, so that
    a function written for plain arrays is measured without a change to it. Views are free, as in
    NumPy.
    """

    counter: Counter | None

    @classmethod
    def of(cls, values: NDArray[Any], counter: Counter) -> CountedArray:
        """The same elements, counted from now on."""
        counted = values.view(cls)
        counted.counter = counter
        return counted

    def __array_finalize__(self, source: Any) -> None:
        self.counter = getattr(source, "counter", None)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        counter = next(x.counter for x in (*inputs, self) if isinstance(x, CountedArray))
        out = options.pop("out", None)
        if out is not None:
            options["out"] = tuple(_plain(x) for x in out)
        result = getattr(ufunc, method)(*(_plain(x) for x in inputs), **options)
        if counter is not None:
            counter.elements += np.size(result)
        if out is not None:
            return out[0]
        counted = np.asarray(result).view(CountedArray)
        counted.counter = counter
        return counted

    def copy(self, order: Any = "C") -> CountedArray:
        self._count(self.size)
        return super().copy(order)

    def astype(self, *arguments: Any, **options: Any) -> Any:
        self._count(self.size)
        return super().astype(*arguments, **options)

    def __getitem__(self, key: Any) -> Any:
        picked = super().__getitem__(key)
        self._count(np.size(picked))
        return picked

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        self._count(np.size(value))

    def _count(self, elements: int) -> None:
        if self.counter is not None:
            self.counter.elements += elements


def _plain(x: Any) -> Any:
    return np.asarray(x) if isinstance(x, CountedArray) else x


@dataclass(frozen=True)
class Size:
    """The size of a stream: d features (a power of two), D examples, U updates of d_Δ features."""

    d: int
    D: int
    U: int
    nonzeros: int


class Steps(Sequence[tb.Step]):
    """The steps of a stream, each made when it is asked for and kept by no one.

    So the memory that an algorithm takes is what the algorithm itself keeps. Updates stand at
    random examples and touch random features. Without `every_example`, the examples between two
    updates are one step without an update, for which they count as often as they are; `exact` is
    for Python's integers in place of floats; a counter counts the elements of the updates, too.
    """

    def __init__(
        self,
        size: Size,
        *,
        every_example: bool = True,
        exact: bool = False,
        counter: Counter | None = None,
    ) -> None:
        self._size = size
        self._counter = counter
        updated = set((permutation(size.D, 1)[: size.U] + 1).tolist())
        marks = sorted(updated | {t + 1 for t in updated if t < size.D} | {1})
        first = np.arange(1, size.D + 1) if every_example else np.array(marks)
        self._first = first.tolist()
        self._examples = np.diff(np.append(first, size.D + 1)).tolist()
        self._updates = {t: number for number, t in enumerate(sorted(updated))}
        self._values: NDArray[Any] = np.where(np.arange(size.nonzeros) % 2, -1.0, 1.0)
        if exact:
            self._values = self._values.astype(int).astype(object)

    def __len__(self) -> int:
        return len(self._first)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        t, examples = self._first[place], self._examples[place]
        number = self._updates.get(t)
        if number is None:
            return tb.Step(t, examples, 0, None)
        return tb.Step(t, examples, 1, tb.Delta(self._touched(number), self._change()))

    def __iter__(self) -> Iterator[tb.Step]:
        return (self[place] for place in range(len(self)))

    def _touched(self, number: int) -> NDArray[np.int64]:
        # An odd stride: where d is a power of two, no update touches a feature twice.
        return (number * 7919 + 37 * np.arange(self._size.nonzeros)) % self._size.d

    def _change(self) -> NDArray[Any]:
        values = self._values.copy()
        return values if self._counter is None else CountedArray.of(values, self._counter)


def made_stream(
    size: Size, *, every_example: bool = True, exact: bool = False, counter: Counter | None = None
) -> tb.Stream:
    """A stream of that size from a zero start; see `Steps`."""
    start: NDArray[Any] = np.zeros(size.d, dtype=object if exact else np.float64)
    if counter is not None:
        start = CountedArray.of(start, counter)
    steps = Steps(size, every_example=every_example, exact=exact, counter=counter)
    return tb.Stream(start, steps)


VARIABLES = ("d", "D", "U")
"""Features, examples, updates."""


@dataclass(frozen=True)
class Growth:
    """A cost as the table states it: its formula, and the power of each variable in it."""

    formula: str
    powers: tuple[int, int, int]


ONE_VECTOR = Growth("d", (1, 0, 0))
EVERY_VECTOR = Growth("T·D·d", (1, 1, 0))
EVERY_DISTINCT = Growth("U·d", (1, 0, 1))
BY_UPDATES = Growth("U·d_Δ + d", (1, 0, 1))
UPDATES_KEPT = Growth("d + U·d_Δ", (1, 0, 1))


@dataclass(frozen=True)
class Keeper:
    """A way to keep weights, of the learners `ids` (as L7), and the costs that the table states.

    `every_example` tells if it does something after every example, not only at updates; `in_core`
    if it works outside NumPy, where its elements cannot be counted.
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


_RUN, _ROUNDS, _LONG = 0.002, 9, 0.02


@dataclass(frozen=True)
class Series:
    """Streams that grow in one variable; `exact` ones hold Python's integers."""

    variable: str
    sizes: tuple[Size, ...]
    exact: bool = False

    @property
    def values(self) -> list[int]:
        """The variable in each stream."""
        return [getattr(size, self.variable) for size in self.sizes]

    @property
    def least(self) -> Size:
        """The smallest stream there is: the features of one update, or no updates."""
        first = self.sizes[0]
        return replace(first, U=0) if self.variable == "U" else replace(first, d=first.nonzeros)


COUNTED = (
    Series("d", tuple(Size(d, 64, 8, 2) for d in (1024, 2048, 4096, 8192))),
    Series("D", tuple(Size(64, D, 32, 2) for D in (1024, 2048, 4096, 8192))),
    Series("U", tuple(Size(64, 8192, U, 2) for U in (128, 256, 512, 1024))),
)
KEPT = (
    Series("d", tuple(Size(d, 16, 2, 2) for d in (8192, 16384, 32768, 65536))),
    Series("D", tuple(Size(256, D, 8, 2) for D in (512, 1024, 2048, 4096))),
    Series("U", tuple(Size(256, 4096, U, 8) for U in (128, 256, 512, 1024))),
)
# In d, Python's whole numbers: arithmetic takes far longer than to fetch them, so the slope is not
# that of caches. In U, vectors long enough for the work after each example to outweigh updates.
TIMED = (
    Series("d", tuple(Size(d, 4, 1, 2) for d in (8192, 16384, 32768, 65536)), exact=True),
    Series("D", tuple(Size(128, D, 16, 2) for D in (512, 1024, 2048, 4096))),
    Series("U", tuple(Size(1024, 2048, U, 2) for U in (16, 32, 64, 128))),
)
PLAN: Mapping[str, tuple[Series, ...]] = {"elements": COUNTED, "bytes": KEPT, "seconds": TIMED}


@dataclass(frozen=True)
class Curve:
    """The elements, bytes or seconds of one row on one series, and the power that the table states.

    If that is 1 and the variable is d or U, costs are less the cost of the smallest stream.
    """

    keeper: Keeper
    quantity: str
    series: Series
    costs: tuple[float, ...]
    stated: int

    @property
    def power(self) -> float:
        """The fitted power: the slope of log cost over log size."""
        return fitted_power(self.series.values, self.costs)


def fitted_power(sizes: list[int], costs: tuple[float, ...]) -> float:
    """The slope of the least-squares line through (log size, log cost)."""
    x, y = np.log2(np.array(sizes, dtype=float)), np.log2(np.array(costs, dtype=float))
    return float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())


def growth_curves(
    *, plan: Mapping[str, tuple[Series, ...]] = PLAN, say: Callable[[str], None] = lambda text: None
) -> list[Curve]:
    """Every row of the cost table on every series of the plan."""
    curves = []
    for quantity, all_series in plan.items():
        for series in all_series:
            say(f"{quantity} as {series.variable} grows")
            curves += [
                _curve(keeper, quantity, series)
                for keeper in KEEPERS
                if not (keeper.in_core and quantity == "elements")
            ]
    return curves


def _curve(keeper: Keeper, quantity: str, series: Series) -> Curve:
    growth = keeper.space if quantity == "bytes" else keeper.time
    stated = growth.powers[VARIABLES.index(series.variable)]
    sizes = list(series.sizes)
    if stated and series.variable != "D":
        sizes.append(series.least)
    costs = _MEASURES[quantity](keeper, sizes, series.exact)
    floor = costs.pop() if len(sizes) > len(series.sizes) else 0.0
    # A clock too coarse for the difference must not end the study.
    return Curve(keeper, quantity, series, tuple(max(c - floor, 1e-9) for c in costs), stated)


def elements(keeper: Keeper, sizes: list[Size], exact: bool) -> list[float]:
    """Array elements that were copied, computed, picked out or written, for each size."""
    counts = []
    for size in sizes:
        counter = Counter()
        keeper.keep(made_stream(size, exact=exact, counter=counter))
        counts.append(float(counter.elements))
    return counts


def peak_bytes(keeper: Keeper, sizes: list[Size], exact: bool) -> list[float]:
    """Memory at its peak, for each size; updates do not count unless they are kept."""
    return [_peak(keeper, made_stream(size, exact=exact)) for size in sizes]


def _peak(keeper: Keeper, stream: tb.Stream) -> float:
    tracemalloc.start()
    try:
        kept = keeper.keep(stream)
        return tracemalloc.get_traced_memory()[1] + float(getattr(kept, "bytes_used", 0))
    finally:
        tracemalloc.stop()


def seconds(keeper: Keeper, sizes: list[Size], exact: bool) -> list[float]:
    """Processor seconds of this thread for each size: the least of some rounds."""
    streams = [_ready(keeper, size, exact and not keeper.in_core) for size in sizes]
    first = [_timed(keeper, stream, 1) for stream in streams]
    runs = [max(1, round(_RUN / once)) for once in first]
    times = [[once] for once in first]
    for number in range(_ROUNDS):
        for place, stream in enumerate(streams):
            # What runs for long needs few rounds to meet a quiet moment.
            if first[place] < _LONG or number < 2:
                times[place].append(_timed(keeper, stream, runs[place]))
    return [min(each) for each in times]


def _ready(keeper: Keeper, size: Size, exact: bool) -> tb.Stream:
    # Walking past an example that changes nothing is part of scoring it: who only acts at updates
    # gets the examples between as one step.
    made = made_stream(size, every_example=keeper.every_example, exact=exact)
    return tb.Stream(made.start, list(made.steps))


def _timed(keeper: Keeper, stream: tb.Stream, runs: int) -> float:
    collects = gc.isenabled()
    gc.disable()
    try:
        before = time.thread_time()
        for _ in range(runs):
            keeper.keep(stream)
        return max(time.thread_time() - before, 1e-9) / runs
    finally:
        if collects:
            gc.enable()


_MEASURES = {"elements": elements, "bytes": peak_bytes, "seconds": seconds}
