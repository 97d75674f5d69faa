"""The constructor's arguments as parameters: what scikit-learn asks of an estimator."""

from __future__ import annotations

import difflib
import inspect
from typing import Any, Self

import numpy as np

from perceptron_nlp.errors import ArgumentError, quote


class Parameters:
    """`get_params`, `set_params` and `repr` for a class whose `__init__` only stores."""

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        signature = inspect.signature(cls)
        return {name: parameter.default for name, parameter in signature.parameters.items()}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's arguments and their values; `deep` changes nothing here."""
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **params: Any) -> Self:
        """Set some of the constructor's arguments; they are checked at the next fit.

        Raises
        ------
        ArgumentError
            when there is no argument of that name
        """
        known = self._defaults()
        for name in params:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f"; did you mean '{near[0]}'?" if near else ""
                raise ArgumentError(f"{type(self).__name__} has no parameter {quote(name)}{hint}")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        changed = (
            f"{name}={value!r}"
            for name, default in self._defaults().items()
            if not _same(value := getattr(self, name), default)
        )
        return f"{type(self).__name__}({', '.join(changed)})"


def _same(value: object, default: object) -> bool:
    if isinstance(value, np.ndarray):
        return False
    return value is default or (type(value) is type(default) and bool(value == default))
