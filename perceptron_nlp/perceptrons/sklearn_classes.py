"""Exceptions and tags as scikit-learn expects them, where it is present.

Code written for scikit-learn catches its `NotFittedError` and filters its
`DataConversionWarning`. Where it is loaded, what we raise is of both families; where
it is not, nothing of it is imported.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from perceptron_nlp.errors import MissingExtraError, PerceptronNLPError


class NotFittedError(PerceptronNLPError, ValueError, AttributeError):
    """An estimator asked for what only `fit` can give it."""


class DataConversionWarning(UserWarning):
    """Data were taken in another shape than they came in."""


def not_fitted(message: str) -> NotFittedError:
    """A `NotFittedError`, of scikit-learn's class of that name too where that is loaded."""
    guest = _loaded("NotFittedError")
    if guest is None:
        return NotFittedError(message)
    both: type[NotFittedError] = type(
        "NotFittedError", (NotFittedError, guest), {"__reduce__": _rebuild_not_fitted}
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
        guest: Any = importlib.import_module("sklearn.utils")
    except ImportError:
        raise MissingExtraError(
            "scikit-learn's tags need scikit-learn: pip install 'perceptron-nlp[sklearn]'"
        ) from None
    return guest.Tags(
        estimator_type="classifier",
        target_tags=guest.TargetTags(required=True),
        classifier_tags=guest.ClassifierTags(),
        input_tags=guest.InputTags(sparse=True),
    )


def _rebuild_not_fitted(self: NotFittedError) -> tuple[Any, tuple[str]]:
    return not_fitted, (str(self),)


def _loaded(name: str) -> Any:
    return getattr(sys.modules.get("sklearn.exceptions"), name, None)
