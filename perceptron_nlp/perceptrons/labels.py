"""y as users have it: labels checked and turned into class ids, with their rates and weights."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, quote
from perceptron_nlp.perceptrons.estimator import conversion_warning
from perceptron_nlp.perceptrons.inputs import is_sparse
from perceptron_nlp.perceptrons.textbook.schedule import not_negative


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


def class_rates(
    class_weight: Any, classes: NDArray[Any], ids: NDArray[np.int32], *, whole: bool
) -> NDArray[np.float64]:
    """The factor of the rate for each class.

    class_weight : None, "balanced" (n_samples / (n_classes * n_in_class)), or a mapping
        from class to factor, where classes left out have 1
    classes : the sorted classes
    ids : the class of each sample
    whole : whether these are all the samples, as "balanced" needs them
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ArgumentError(
                f"class_weight {quote(class_weight)} is not 'balanced'; give None, 'balanced' "
                "or a dictionary"
            )
        if not whole:
            raise ArgumentError(
                "class_weight 'balanced' needs all samples at once, which partial_fit does not "
                "see; give a dictionary"
            )
        counts = np.bincount(ids, minlength=len(classes))
        return np.asarray(len(ids) / (len(classes) * np.maximum(counts, 1)), dtype=np.float64)
    if not isinstance(class_weight, Mapping):
        raise ArgumentTypeError(
            "class_weight must be None, 'balanced' or a dictionary, "
            f"got {quote(repr(class_weight))}"
        )
    known = classes.tolist()
    strange = [label for label in class_weight if label not in known]
    if strange:
        raise ArgumentError(f"class_weight names {quote(repr(strange[0]))}, which is no class in y")
    return np.array(
        [float(not_negative("class_weight", class_weight.get(label, 1.0))) for label in known]
    )


def known_classes(
    before: NDArray[Any] | None, labels: NDArray[Any], classes: ArrayLike | None, one_epoch: bool
) -> NDArray[Any]:
    """The classes of the training before; else those given, or those of the labels."""
    if before is None and one_epoch:
        if classes is None:
            raise ArgumentError("classes must be given in the first call of partial_fit")
        return sorted_classes(classes, "classes")
    if before is None:
        return sorted_classes(labels, "y")
    if classes is not None and not np.array_equal(before, sorted_classes(classes, "classes")):
        raise ArgumentError("classes are not the ones of the first call of partial_fit")
    return before
