"""Arrays that count the elements that pass through them: work, whatever the machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


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
