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
from perceptron_nlp.perceptrons.textbook.schedule import Schedule, not_negative, resolve
from perceptron_nlp.sampling import uniform

Floats = NDArray[np.float64]


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


RANDOM_START = (-0.01, 0.01)
"""The range of ``init="random"``: small, as the source advises (Jenkins, general GD, note 3)."""


def start_weights(init: Any, vectors: int, width: int, seed: int, *, intercept: bool) -> Floats:
    """Return the weights to begin with: float64[1 + width, vectors], intercepts first.

    init : "zeros", a number for every weight, "random", (low, high), or an array of shape
        (vectors, width) or, with the biases as last column, (vectors, width + 1); for two
        classes also (width,) or (width + 1,)

    Raises ArgumentError, ArgumentTypeError if `init` is none of these, or holds NaN or infinity.
    """
    full = width + intercept
    init = {"zeros": 0.0, "random": RANDOM_START}.get(init, init) if isinstance(init, str) else init
    shown = quote(repr(init))
    if isinstance(init, str):
        raise ArgumentError(f"init {quote(init)} is not 'zeros' or 'random', a number or an array")
    if is_number(init):
        table = np.full((vectors, full), start_weight(init))
    elif isinstance(init, tuple):
        if len(init) != 2:
            raise ArgumentError(f"init {shown} must be a range (low, high)")
        try:
            low, high = map(_as_float, init)
        except (TypeError, ValueError):
            raise ArgumentTypeError(f"init {shown} must hold two numbers") from None
        if not (np.isfinite(low) and np.isfinite(high) and low <= high):
            raise ArgumentError(f"init {shown} must be finite, the lower number first")
        table = uniform(vectors * full, low, high, seed).reshape(vectors, full)
    else:
        try:
            table = np.array(init, dtype=np.float64, ndmin=2)
        except OverflowError:
            raise ArgumentError("init must be finite") from None
        except (TypeError, ValueError):
            raise ArgumentTypeError(
                f"init must be 'zeros', 'random', a number, a pair or an array, got {shown}"
            ) from None
        shapes = sorted({(vectors, width), (vectors, full)})
        if table.shape not in shapes:
            wanted = " or ".join(map(str, shapes))
            raise ArgumentError(
                f"init has the shape {np.shape(init)}, but the weights have {wanted}"
            )
        if not np.isfinite(table).all():
            raise ArgumentError("init must be finite")
    bias = table[:, width:] if table.shape[1] > width else np.zeros((vectors, 1))
    return np.ascontiguousarray(np.concatenate([bias, table[:, :width]], axis=1).T)


def is_number(init: Any) -> bool:
    """Return True if a start is one number for every weight."""
    return isinstance(init, int | float | np.number) and not isinstance(init, bool)


def start_weight(init: Any) -> float:
    """Return such a number as a float; ArgumentError if it is not finite."""
    weight = _as_float(init)
    if not np.isfinite(weight):
        raise ArgumentError("init must be finite")
    return weight


def _as_float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return np.inf


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
