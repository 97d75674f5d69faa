"""X and y as users have them, checked and turned into rows and class ids."""

from __future__ import annotations

import math
import warnings
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Number, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, quote
from perceptron_nlp.perceptrons.estimator import conversion_warning
from perceptron_nlp.perceptrons.rows import MOST, Floats, Rows, is_sparse, rows_of_matrix


def labels_of(y: Any, count: int, owner: str) -> NDArray[Any]:
    """Labels as a one-dimensional array of `count` numbers or strings.

    Raises ArgumentError, ArgumentTypeError if y is None, not one column, of another length,
    continuous, or of mixed types.
    """
    if y is None:
        raise ArgumentError(f"{owner} requires y to be passed, but the target y is None")
    if is_sparse(y):
        raise ArgumentTypeError("y is sparse; labels must come as a dense array: y.toarray()")
    _check_one_type(y)
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected; it is taken as y.ravel()",
            conversion_warning(),
            stacklevel=4,
        )
        labels = labels.ravel()
    if labels.ndim != 1:
        raise ArgumentError(f"y should be a 1d array, got an array of shape {labels.shape} instead")
    if len(labels) != count:
        raise ArgumentError(f"y has {len(labels)} labels, but X has {count} samples")
    return _discrete(labels, "y")


def _check_one_type(y: Any, name: str = "y") -> None:
    """NumPy would turn [1, "a"] into strings without a word."""
    if not isinstance(y, list | tuple) and getattr(y, "dtype", None) != np.dtype(object):
        return
    kinds: dict[type, int] = {}
    for place, label in enumerate(y):
        number = isinstance(label, Number | np.generic) and not isinstance(label, str)
        kind = str if isinstance(label, str) else Number if number else type(label)
        kinds.setdefault(kind, place)
    if len(kinds) > 1:
        (first, at), (second, place) = list(kinds.items())[:2]
        raise ArgumentTypeError(
            f"{name} mixes types: {name}[{at}] is a {first.__name__.lower()}, "
            f"{name}[{place}] a {second.__name__.lower()}; give labels of one type"
        )


def _discrete(labels: NDArray[Any], name: str) -> NDArray[Any]:
    if labels.dtype.kind == "f":
        if not np.isfinite(labels).all():
            what = "NaN" if np.isnan(labels).any() else "infinity or a value too large"
            raise ArgumentError(f"Input {name} contains {what}; every sample needs a label")
        if (labels != np.floor(labels)).any():
            raise ArgumentError(
                f"Unknown label type: continuous. {name} holds fractions; give classes"
            )
    elif labels.dtype.kind not in "iubUSO":
        raise ArgumentTypeError(f"Unknown label type: {name} is of type {labels.dtype}")
    return labels


def sample_weights(weights: Any, count: int) -> NDArray[np.float64] | None:
    """Return weights of samples as an array; None where all weigh the same."""
    if weights is None:
        return None
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentTypeError("sample_weight must be a number for each sample") from None
    if array.shape != (count,):
        raise ArgumentError(f"sample_weight has shape {array.shape}, but X has {count} samples")
    if not (np.isfinite(array).all() and (array >= 0).all() and array.any()):
        raise ArgumentError("sample_weight must be finite and 0 or more, and not 0 throughout")
    return array


def class_ids(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int32]:
    """The place of each label in the sorted `classes`."""
    ids = np.searchsorted(classes, labels)
    ids[ids == len(classes)] = 0
    strange = classes[ids] != labels
    if strange.any():
        place = int(np.argmax(strange))
        raise ArgumentError(f"y[{place}] is {quote(labels[place])}, which is not among classes")
    return ids.astype(np.int32)


def sorted_classes(labels: ArrayLike, name: str) -> NDArray[Any]:
    """The distinct labels in order; two at least."""
    _check_one_type(labels, name)
    try:
        classes = np.unique(_discrete(np.asarray(labels), name))
    except TypeError as problem:
        raise ArgumentTypeError(f"{name} holds labels that cannot be ordered: {problem}") from None
    if len(classes) < 2:
        only = f" ({quote(classes[0])})" if len(classes) else ""
        raise ArgumentError(f"{name} holds only one class{only}; a classifier needs two or more")
    return classes


def is_feature_samples(X: Any) -> bool:
    """Return True for a list of feature dictionaries or of lists of strings."""
    if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1:
        X = X.tolist()
    if not isinstance(X, list | tuple) or not X:
        return False
    first = next((sample for sample in X if not hasattr(sample, "__len__") or len(sample)), X[0])
    if isinstance(first, Mapping | str | set | frozenset):
        return True
    return isinstance(first, list | tuple) and bool(first) and isinstance(first[0], str)


def encoded(
    samples: Sequence[Any], index: dict[str, int], *, grow: bool, width: int = MOST
) -> tuple[Floats, NDArray[np.int32], NDArray[np.int64]]:
    """Return feature samples as CSR arrays: values, columns, starts.

    Parameters
    ----------
    samples : dictionaries (name -> str, number or bool) or collections of strings
    index : the column of each name, in order of first appearance
    grow : give new names a column; else leave them out
    width : leave out names with a column from here on

    Raises ArgumentError, ArgumentTypeError if a name or a value is of another type, or no finite
    number.
    """
    values, columns, starts = array("d"), array("i"), array("q", [0])
    for number, sample in enumerate(samples):
        for name, value in _features(sample, number):
            if value == 0:
                continue
            column = index.setdefault(name, len(index)) if grow else index.get(name, width)
            if column < width:
                values.append(value)
                columns.append(column)
        starts.append(len(values))
    return (np.array(values, np.float64), np.array(columns, np.int32), np.array(starts, np.int64))


def _features(sample: Any, number: int) -> Iterator[tuple[str, float]]:
    """Yield the names and values of one sample; a string value is part of the name."""
    if isinstance(sample, str | bytes):
        raise ArgumentTypeError(
            f"X[{number}] is a single string; a sample is a dictionary or a list of strings: "
            "X[i].split() may be what is meant"
        )
    if isinstance(sample, Mapping):
        for name, value in sample.items():
            if isinstance(value, str):
                yield f"{_name(name, number)}={value}", 1.0
            else:
                yield _name(name, number), _number(name, value, number)
        return
    try:
        # A set has the order of the day's hashes; columns would be in it.
        names = sorted(sample, key=str) if isinstance(sample, set | frozenset) else iter(sample)
    except TypeError:
        raise ArgumentTypeError(
            f"X[{number}] is {quote(repr(sample))}; a sample is a dictionary or a list of strings"
        ) from None
    for name in names:
        yield _name(name, number), 1.0


def _name(name: Any, number: int) -> str:
    if not isinstance(name, str):
        raise ArgumentTypeError(
            f"X[{number}] has the feature {quote(repr(name))}, but a feature is named by a string"
        )
    return str(name)


def _number(name: str, value: Any, number: int) -> float:
    if not isinstance(value, Real | np.bool_):
        raise ArgumentTypeError(
            f"X[{number}] has {quote(repr(value))} for {quote(name)}; "
            "a value is a string, a number or a bool"
        )
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise ArgumentError(
            f"Input X contains {quote(value)} for {quote(name)} in X[{number}]; "
            "a value must be finite"
        )
    return found


@dataclass
class Samples:
    """The way from a classifier's samples to rows.

    owner : the classifier's name, for messages
    width : features so far; columns of the index from here on are not trained yet
    index : the columns of feature names; None where X is a matrix
    names : the columns' names where X was a data frame
    """

    owner: str
    width: int | None = None
    index: dict[str, int] | None = None
    names: NDArray[Any] | None = None

    @classmethod
    def of(cls, X: Any, owner: str) -> Samples:
        """For samples of the kind of X."""
        if is_feature_samples(X):
            return cls(owner, index={})
        return cls(owner, names=column_names(X))

    def training_rows(self, X: Any) -> Rows:
        """X as rows, as wide as its new features make it; `width` stays."""
        if self.index is None:
            return self._matrix(X)
        arrays = encoded(self._dictionaries(X), self.index, grow=True)
        if not len(self.index):
            raise ArgumentError("X has no features: every dictionary or list in it is empty")
        return Rows(*arrays, len(X), len(self.index))

    def points(self, X: Any) -> Rows:
        """X as rows of the `width` known features; others are left out."""
        if self.index is None or self.width is None:
            return self._matrix(X)
        arrays = encoded(self._dictionaries(X), self.index, grow=False, width=self.width)
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
