"""An estimator as scikit-learn expects it: parameters and their checks, exceptions, tags.

Code written for scikit-learn catches its `NotFittedError` and filters its `DataConversionWarning`.
Where it is loaded, what we raise is of both families; where it is not, nothing of it is imported.
"""

from __future__ import annotations

import importlib
import inspect
import operator
import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp._checks import check_choice, did_you_mean
from perceptron_nlp.errors import (
    ArgumentError,
    ArgumentTypeError,
    MissingExtraError,
    in_message,
    quote,
)
from perceptron_nlp.perceptrons.schedule import Schedule, not_negative, resolve


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

        Raises ArgumentError if there is no argument of that name.
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


class DataConversionWarning(UserWarning):
    """Data were taken in another shape than they came in."""


def conversion_warning() -> type[Warning]:
    """scikit-learn's `DataConversionWarning` where it is loaded, else ours."""
    theirs = getattr(sys.modules.get("sklearn.exceptions"), "DataConversionWarning", None)
    return theirs or DataConversionWarning


def classifier_tags() -> Any:
    """The tags of a classifier of dense and sparse rows, binary or multiclass."""
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


ORDERS = ("sequential", "stochastic", "replacement", "batch", "minibatch-random", "minibatch")
"""O1 … O6, in the order of their numbers."""

_SEEDS = 1 << 64


@dataclass(frozen=True)
class Options:
    """Options that have passed their checks; see `PerceptronClassifier` for what they do."""

    average: bool
    voted: bool
    margin: float
    strict: bool
    order: str
    shuffle: bool
    batch_size: int
    schedule: Schedule
    tol: float | None
    max_iter: int
    seed: int
    fit_intercept: bool
    memory_limit: int

    @classmethod
    def checked(cls, params: Mapping[str, Any]) -> Options:
        """The options of an estimator's parameters."""
        check_choice("order", params["order"], ORDERS)
        return cls(
            average=_flag("average", params["average"]),
            voted=_flag("voted", params["voted"]),
            margin=float(not_negative("margin", params["margin"])),
            strict=_flag("strict", params["strict"]),
            order=params["order"],
            shuffle=_flag("shuffle", params["shuffle"]),
            batch_size=_whole("batch_size", params["batch_size"], 1),
            schedule=resolve(params["schedule"], not_negative("eta0", params["eta0"])),
            tol=None if params["tol"] is None else float(not_negative("tol", params["tol"])),
            max_iter=_whole("max_iter", params["max_iter"], 1),
            seed=_seed(params["random_state"]),
            fit_intercept=_flag("fit_intercept", params["fit_intercept"]),
            memory_limit=_whole("memory_limit", params["memory_limit"], 0),
        )

    def step(self, count: int) -> int:
        """Rows of `count` that make one step: 1, a batch, or all."""
        if self.order == "batch":
            return count
        if self.order in ("minibatch", "minibatch-random"):
            if self.batch_size > count:
                raise ArgumentError(
                    f"batch_size is {in_message(self.batch_size)}, but X has only {count} samples"
                )
            return self.batch_size
        return 1


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


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise ArgumentTypeError(f"{name} must be True or False, got {quote(value)}")
    return bool(value)


def _whole(name: str, value: Any, low: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentTypeError(f"{name} must be an integer, got {quote(value)}") from None
    if isinstance(value, bool) or number < low:
        raise ArgumentError(f"{name} must be an integer of {low} or more, got {in_message(value)}")
    return number


def _seed(random_state: Any) -> int:
    """A seed from an integer, None (a fresh one), or a NumPy generator (its next number)."""
    if random_state is None:
        return secrets.randbits(63)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(1 << 31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(1 << 63))
    seed = _whole("random_state", random_state, 0)
    if seed >= _SEEDS:
        raise ArgumentError(f"random_state must be under 2**64, got {in_message(seed)}")
    return seed
