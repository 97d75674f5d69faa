"""X of one classifier over its life: a matrix each time, or feature dictionaries each time."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp._core.features.feature_index import FeatureIndex
from perceptron_nlp._core.train.vectors import Rows
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError
from perceptron_nlp.perceptrons.inputs import is_feature_samples, rows_of_matrix


@dataclass
class Samples:
    """How the samples of a classifier become rows.

    Attributes
    ----------
    owner : the classifier's name, for messages
    width : features so far; columns of the index from here on are not trained yet
    index : the columns of feature names; None where X is a matrix
    names : the columns' names where X was a data frame
    """

    owner: str
    width: int | None = None
    index: FeatureIndex | None = None
    names: NDArray[Any] | None = None

    @classmethod
    def of(cls, X: Any, owner: str) -> Samples:
        """For samples of the kind of X."""
        if is_feature_samples(X):
            return cls(owner, index=FeatureIndex())
        return cls(owner, names=column_names(X))

    def training_rows(self, X: Any) -> Rows:
        """X as rows, as wide as its new features make it; `width` stays.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            when X is of another kind or width than before, or cannot be used at all
        """
        if self.index is None:
            return self._matrix(X)
        arrays = self.index.encode(self._dictionaries(X), grow=True)
        if not len(self.index):
            raise ArgumentError("X has no features: every dictionary or list in it is empty")
        return Rows(*arrays, len(X), len(self.index))

    def points(self, X: Any) -> Rows:
        """X as rows of the `width` known features; others are left out.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            as `training_rows`
        """
        if self.index is None or self.width is None:
            return self._matrix(X)
        arrays = self.index.encode(self._dictionaries(X), grow=False, width=self.width)
        return Rows(*arrays, len(X), self.width)

    def _matrix(self, X: Any) -> Rows:
        if is_feature_samples(X):
            raise ArgumentTypeError("X holds feature dictionaries, but was a matrix before")
        if self.width is not None:
            _check_names(self.names, column_names(X), self.owner)
        return rows_of_matrix(X, self.owner, self.width)

    def _dictionaries(self, X: Any) -> Sequence[Any]:
        if not isinstance(X, list | tuple | np.ndarray):
            raise ArgumentTypeError("X must be a list of feature dictionaries, as it was before")
        if not len(X):
            raise ArgumentError("X is empty")
        return X  # type: ignore[return-value]


def column_names(X: Any) -> NDArray[Any] | None:
    """The column names of a data frame, if all are strings."""
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "shape"):
        return None
    names = list(columns)
    if not names or not all(isinstance(name, str) for name in names):
        return None
    return np.array(names, dtype=object)


def _check_names(known: NDArray[Any] | None, given: NDArray[Any] | None, owner: str) -> None:
    if known is None and given is None:
        return
    if known is None or given is None:
        message = (
            f"X does not have valid feature names, but {owner} was fitted with feature names"
            if given is None
            else f"X has feature names, but {owner} was fitted without feature names"
        )
        warnings.warn(message, UserWarning, stacklevel=6)
        return
    if np.array_equal(known, given):
        return
    message = "The feature names should match those that were passed during fit.\n"
    unseen, missing = sorted(set(given) - set(known)), sorted(set(known) - set(given))
    cases = ("unseen at fit time", unseen), ("seen at fit time, yet now missing", missing)
    for title, names in cases:
        if names:
            shown = [f"- {name}\n" for name in names[:5]] + ["- ...\n"] * (len(names) > 5)
            message += f"Feature names {title}:\n" + "".join(shown)
    if not unseen and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    raise ArgumentError(message)
