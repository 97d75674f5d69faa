"""Streams of updates made to measure, and arrays that count the elements passing through them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp.perceptrons.textbook import Delta, Step, Stream
from perceptron_nlp.sampling import permutation


@dataclass
class Counter:
    """How many array elements were copied, computed, picked out or written so far."""

    elements: int = 0


class CountedArray(np.ndarray[Any, np.dtype[Any]]):
    """An array that tells a `Counter` of every element that is worked on.

    Copies, arithmetic and picks by index give counted arrays again, with the same counter,
    so that a function written for plain arrays is measured without a change to it. Views
    (``reshape``) are free, as they are in NumPy.
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
        return np.asarray(result).view(CountedArray)._with(counter)

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

    def _with(self, counter: Counter | None) -> CountedArray:
        self.counter = counter
        return self

    def _count(self, elements: int) -> None:
        if self.counter is not None:
            self.counter.elements += elements


def _plain(x: Any) -> Any:
    return np.asarray(x) if isinstance(x, CountedArray) else x


@dataclass(frozen=True)
class Size:
    """The size of a stream.

    Attributes
    ----------
    d : features, a power of two
    D : examples
    U : updates, at most D
    nonzeros : d_Δ, features that an update touches, at most d
    """

    d: int
    D: int
    U: int
    nonzeros: int


class Steps(Sequence[Step]):
    """The steps of a stream, each made when it is asked for and kept by no one.

    So the memory that an algorithm takes is what the algorithm itself keeps. Updates
    stand at random examples and touch random features.

    Parameters
    ----------
    every_example : a step for each example; False joins the examples between two updates
        into one step without an update, for which they count as often as they are
    exact : Python's integers in place of floats
    counter : counts the elements of the updates too
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

    @overload
    def __getitem__(self, place: int) -> Step: ...
    @overload
    def __getitem__(self, place: slice) -> list[Step]: ...
    def __getitem__(self, place: int | slice) -> Step | list[Step]:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        t, examples = self._first[place], self._examples[place]
        number = self._updates.get(t)
        if number is None:
            return Step(t, examples, 0, None)
        return Step(t, examples, 1, Delta(self._touched(number), self._change()))

    def __iter__(self) -> Iterator[Step]:
        return (self[place] for place in range(len(self)))

    def _touched(self, number: int) -> NDArray[np.int64]:
        # An odd stride: where d is a power of two, no update touches a feature twice.
        return (number * 7919 + 37 * np.arange(self._size.nonzeros)) % self._size.d

    def _change(self) -> NDArray[Any]:
        values = self._values.copy()
        return values if self._counter is None else CountedArray.of(values, self._counter)


def made_stream(
    size: Size, *, every_example: bool = True, exact: bool = False, counter: Counter | None = None
) -> Stream:
    """A stream of that size from a zero start; see `Steps`."""
    start: NDArray[Any] = np.zeros(size.d, dtype=object if exact else np.float64)
    if counter is not None:
        start = CountedArray.of(start, counter)
    steps = Steps(size, every_example=every_example, exact=exact, counter=counter)
    return Stream(start, steps)
