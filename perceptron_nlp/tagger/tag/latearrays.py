"""Fields that hold buffers of numbers, and are arrays of NumPy to whoever looks at them.

Tagging needs no more of a model's numbers than the bytes that its file has, and importing NumPy
takes longer than all else that a small job does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class _LateArray:
    """What stands in a class for one of its slots."""

    def __init__(self, slot: Any, dtype: str) -> None:
        self._slot = slot
        self._dtype = dtype

    def __get__(self, owner: object, kind: type | None = None) -> Any:
        if owner is None:
            return self
        held = self._slot.__get__(owner, kind)
        if not isinstance(held, memoryview):
            return held
        # Here, since whoever does not look at the array does without NumPy.
        import numpy as np

        array = np.asarray(held).view(self._dtype)
        self._slot.__set__(owner, array)
        return array

    def __set__(self, owner: object, value: object) -> None:
        self._slot.__set__(owner, value)

    def held(self, owner: object) -> Any:
        return self._slot.__get__(owner, type(owner))


def late_arrays(**dtypes: str) -> Callable[[type[T]], type[T]]:
    """A decorator of classes with slots: these fields, by name, may be given memoryviews in place
    of arrays of these types, which they become when they are first looked at."""

    def decorated(kind: type[T]) -> type[T]:
        for name, dtype in dtypes.items():
            setattr(kind, name, _LateArray(getattr(kind, name), dtype))
        return kind

    return decorated


def held_in(owner: object, name: str) -> Any:
    """What a field holds: of a late array, what was given, or the array if it was looked at."""
    field = type(owner).__dict__[name]
    return field.held(owner) if isinstance(field, _LateArray) else getattr(owner, name)
