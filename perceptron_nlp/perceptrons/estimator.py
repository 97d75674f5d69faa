"""What scikit-learn expects of an estimator: parameters, its exceptions, its tags.

Code written for scikit-learn catches its `NotFittedError` and filters its
`DataConversionWarning`. Where it is loaded, what we raise is of both families; where
it is not, nothing of it is imported.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from typing import Any, Self

import numpy as np

from perceptron_nlp._checks import did_you_mean
from perceptron_nlp.errors import ArgumentError, MissingExtraError, PerceptronNLPError, quote


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
                hint = did_you_mean(name, known)
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


class NotFittedError(PerceptronNLPError, ValueError, AttributeError):
    """An estimator asked for what only `fit` can give it."""


class DataConversionWarning(UserWarning):
    """Data were taken in another shape than they came in."""


def not_fitted(message: str) -> NotFittedError:
    """A `NotFittedError`, of scikit-learn's class of that name too where that is loaded."""
    theirs = _loaded("NotFittedError")
    if theirs is None:
        return NotFittedError(message)
    both: type[NotFittedError] = type(
        "NotFittedError", (NotFittedError, theirs), {"__reduce__": _rebuild_not_fitted}
    )
    return both(message)


def conversion_warning() -> type[Warning]:
    """scikit-learn's `DataConversionWarning` where it is loaded, else ours."""
    return _loaded("DataConversionWarning") or DataConversionWarning


def classifier_tags() -> Any:
    """The tags of a classifier of dense and sparse rows, binary or multiclass.

    Raises
    ------
    MissingExtraError
        when scikit-learn is not installed
    """
    try:
        sklearn_utils: Any = importlib.import_module("sklearn.utils")
    except ImportError:
        raise MissingExtraError(
            "scikit-learn's tags need scikit-learn: pip install 'perceptron-nlp[sklearn]'"
        ) from None
    return sklearn_utils.Tags(
        estimator_type="classifier",
        target_tags=sklearn_utils.TargetTags(required=True),
        classifier_tags=sklearn_utils.ClassifierTags(),
        input_tags=sklearn_utils.InputTags(sparse=True),
    )


def _rebuild_not_fitted(self: NotFittedError) -> tuple[Any, tuple[str]]:
    return not_fitted, (str(self),)


def _loaded(name: str) -> Any:
    return getattr(sys.modules.get("sklearn.exceptions"), name, None)
