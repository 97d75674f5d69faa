"""Streams of updates made to measure: so many features, examples, updates and non-zeros."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp.perceptrons.study.counting import CountedArray, Counter
from perceptron_nlp.perceptrons.textbook import Delta, Step, Stream
from perceptron_nlp.sampling import permutation


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
