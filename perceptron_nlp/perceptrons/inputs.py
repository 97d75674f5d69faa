"""X and y as users have them, checked and turned into rows and class ids."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perceptron_nlp._core.features.feature_index import FeatureIndex
from perceptron_nlp._core.train.vectors import Rows
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, quote
from perceptron_nlp.perceptrons.estimator import conversion_warning

_INT32_MAX = 2**31 - 1


def is_sparse(X: Any) -> bool:
    """Return True for a sparse matrix, told by what it can do: SciPy is not imported."""
    return hasattr(X, "tocsr") or all(hasattr(X, part) for part in ("indptr", "indices", "data"))


def rows_of_matrix(X: Any, owner: str, width: int | None = None) -> Rows:
    """Return a dense or sparse matrix as checked rows of float64, of `width` features if given.

    Raises ArgumentError, ArgumentTypeError if X is empty, not two-dimensional, of another width, or
    holds NaN, infinity or something that is no real number.
    """
    rows = _sparse_rows(X) if is_sparse(X) else _dense_rows(X)
    if rows.count < 1:
        raise ArgumentError(
            f"X is empty: found array with 0 sample(s) (shape=({rows.count}, {rows.width})) "
            "while a minimum of 1 is required."
        )
    if rows.width < 1:
        raise ArgumentError(
            f"X has no features: found array with 0 feature(s) (shape=({rows.count}, 0)) "
            "while a minimum of 1 is required."
        )
    if width is not None and rows.width != width:
        raise ArgumentError(
            f"X has {rows.width} features, but {owner} is expecting {width} features as input"
        )
    _check_finite(rows)
    return rows


def _dense_rows(X: Any) -> Rows:
    try:
        array = np.asarray(X)
        _refuse_complex(array.dtype)
        array = np.ascontiguousarray(array, dtype=np.float64) if array.ndim else array
    except TypeError as problem:
        raise ArgumentTypeError(f"X must hold numbers: {problem}") from None
    except OverflowError:
        raise ArgumentError("X holds a number that is too large for a float") from None
    except ValueError as problem:
        if isinstance(problem, ArgumentError):
            raise
        raise ArgumentError(f"X must be a rectangle of numbers: {problem}") from None
    if array.ndim != 2:
        raise ArgumentError(
            f"X must have two dimensions. Expected 2D array, got {array.ndim}D array instead. "
            "Reshape your data: X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one sample."
        )
    return Rows(array.reshape(-1), None, None, *array.shape)


def _sparse_rows(X: Any) -> Rows:
    csr = X.tocsr() if hasattr(X, "tocsr") else X
    if len(csr.shape) != 2:
        raise ArgumentError(f"X must have two dimensions, but is sparse with {len(csr.shape)}")
    count, width = csr.shape
    values = np.asarray(csr.data)
    _refuse_complex(values.dtype)
    if max(count, width) > _INT32_MAX:
        raise ArgumentError(f"X has shape {csr.shape}; the limit is {_INT32_MAX} each way")
    return Rows(
        np.ascontiguousarray(values, dtype=np.float64),
        np.ascontiguousarray(csr.indices, dtype=np.int32),
        np.ascontiguousarray(csr.indptr, dtype=np.int64),
        count,
        width,
    )


def _refuse_complex(dtype: np.dtype[Any]) -> None:
    if dtype.kind == "c":
        raise ArgumentError(f"X is of type {dtype}. Complex data not supported")


def _check_finite(rows: Rows) -> None:
    # Zero times a number is zero unless the number is NaN or infinite: one product, no copy.
    with np.errstate(invalid="ignore", over="ignore"):
        if np.isfinite(rows.values.sum()):
            return
        bad = ~np.isfinite(rows.values)
    if not bad.any():
        return
    place = int(np.argmax(bad))
    if rows.starts is None or rows.columns is None:
        row, column = divmod(place, rows.width)
    else:
        row = int(np.searchsorted(rows.starts, place, side="right")) - 1
        column = int(rows.columns[place])
    what = "NaN" if np.isnan(rows.values[place]) else "infinity"
    raise ArgumentError(
        f"Input X contains {what}, first at row {row}, column {column}; replace or drop such values"
    )


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
    index: FeatureIndex | None = None
    names: NDArray[Any] | None = None

    @classmethod
    def of(cls, X: Any, owner: str) -> Samples:
        """For samples of the kind of X."""
        if is_feature_samples(X):
            return cls(owner, index=FeatureIndex())
        return cls(owner, names=column_names(X))

    def training_rows(self, X: Any) -> Rows:
        """X as rows, as wide as its new features make it; `width` stays."""
        if self.index is None:
            return self._matrix(X)
        arrays = self.index.encode(self._dictionaries(X), grow=True)
        if not len(self.index):
            raise ArgumentError("X has no features: every dictionary or list in it is empty")
        return Rows(*arrays, len(X), len(self.index))

    def points(self, X: Any) -> Rows:
        """X as rows of the `width` known features; others are left out."""
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
