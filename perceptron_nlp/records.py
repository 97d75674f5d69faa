"""Frozen classes of named fields, as of dataclasses, without importing those.

``dataclasses`` brings in all that reads Python source, which takes longer than a model takes to
load. To whoever imports it, a record is a dataclass: ``replace``, ``fields`` and ``asdict`` take
it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def record(*, eq: bool = True, kw_only: bool = False) -> Callable[[type[T]], type[T]]:
    """A decorator of classes: what ``dataclass(frozen=True, slots=True, ...)`` would make.

    Parameters
    ----------
    eq : whether records with equal fields are equal
    kw_only : whether fields are given by name only; it tells readers and checkers, nobody else
    """

    def decorated(kind: type[T]) -> type[T]:
        own = dict(vars(kind))
        names = tuple(own["__annotations__"])
        defaults = {name: own.pop(name) for name in names if name in own}
        for name in ("__dict__", "__weakref__"):
            own.pop(name, None)
        methods = {**_METHODS, **(_EQUALITY if eq else {})}
        metaclass: Any = type(kind)
        made: type[T] = metaclass(
            kind.__name__,
            kind.__bases__,
            {
                **{name: method for name, method in methods.items() if name not in own},
                **own,
                "__slots__": names,
                "__match_args__": () if kw_only else names,
                "__record_defaults__": defaults,
                "__dataclass_fields__": _Fields(),
                "__signature__": _Signature(),
            },
        )
        return made

    return decorated


class _Fields:
    """The fields as dataclasses know them, made for who asks for them."""

    def __get__(self, owner: object, kind: type) -> Any:
        # Here, since records are there to do without.
        import dataclasses

        defaults = vars(kind)["__record_defaults__"]
        fields: Any = [
            (name, hint, dataclasses.field(default=defaults.get(name, dataclasses.MISSING)))
            for name, hint in kind.__annotations__.items()
        ]
        made: Any = dataclasses.make_dataclass(kind.__name__, fields, kw_only=True)
        kind.__dataclass_fields__ = made.__dataclass_fields__  # type: ignore[attr-defined]
        return made.__dataclass_fields__


class _Signature:
    """How a record is made, for help, editors and the pages of the reference."""

    def __get__(self, owner: object, kind: type) -> Any:
        # Here, as above.
        import inspect

        how = (
            inspect.Parameter.POSITIONAL_OR_KEYWORD
            if vars(kind)["__match_args__"]
            else inspect.Parameter.KEYWORD_ONLY
        )
        defaults = vars(kind)["__record_defaults__"]
        return inspect.Signature(
            [
                inspect.Parameter(
                    name, how, annotation=hint, default=defaults.get(name, inspect.Parameter.empty)
                )
                for name, hint in kind.__annotations__.items()
            ]
        )


def _init(self: Any, *given: Any, **named: Any) -> None:
    names, put = self.__slots__, object.__setattr__
    if len(given) > len(names):
        raise TypeError(f"{type(self).__name__} takes {len(names)} fields, not {len(given)}")
    for name, value in zip(names, given, strict=False):
        if name in named:
            raise TypeError(f"{type(self).__name__}: {name} is given twice")
        put(self, name, value)
    for name in names[len(given) :]:
        if name in named:
            put(self, name, named.pop(name))
        elif name in self.__record_defaults__:
            put(self, name, self.__record_defaults__[name])
        else:
            raise TypeError(f"{type(self).__name__}: {name} is missing")
    for name in named:
        raise TypeError(f"{type(self).__name__} has no field {name}")


def _refuse(self: Any, name: str, value: object = None) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"{type(self).__name__} does not change; cannot set {name!r}")


def _values(self: Any) -> tuple[Any, ...]:
    return tuple([getattr(self, name) for name in self.__slots__])


def _repr(self: Any) -> str:
    fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
    return f"{type(self).__qualname__}({fields})"


def _put_back(self: Any, values: tuple[Any, ...]) -> None:
    for name, value in zip(self.__slots__, values, strict=True):
        object.__setattr__(self, name, value)


def _eq(self: Any, other: object) -> bool:
    return _values(self) == _values(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))


_METHODS: dict[str, Any] = {
    "__init__": _init,
    "__setattr__": _refuse,
    "__delattr__": _refuse,
    "__repr__": _repr,
    "__getstate__": _values,
    "__setstate__": _put_back,
}
_EQUALITY: dict[str, Any] = {"__eq__": _eq, "__hash__": _hash}
