"""Step sizes η(i) as functions of the iteration i = 1, 2, …

The source is Jenkins' lecture, "Perceptron learning algorithm: convergence". The lecture counts
iterations from 0; its 1/i then needs the shift, so here they start at 1. A schedule computes in the
numbers it is given: with ``eta0 = Fraction(1)`` the rates are exact fractions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import Any

from perceptron_nlp._checks import did_you_mean
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, in_message, quote

Rate = int | float | Fraction
Schedule = Callable[[int], Rate]


@dataclass(frozen=True)
class Constant:
    """η(i) = eta0, the fixed increment."""

    eta0: Rate = 1

    def __call__(self, i: int) -> Rate:
        return self.eta0


@dataclass(frozen=True)
class Inverse:
    """η(i) = eta0 / i."""

    eta0: Rate = 1

    def __call__(self, i: int) -> Rate:
        return self.eta0 / i


@dataclass(frozen=True)
class InverseSquare:
    """η(i) = eta0 / i², which shrinks too fast: the rates have a finite sum."""

    eta0: Rate = 1

    def __call__(self, i: int) -> Rate:
        return self.eta0 / (i * i)


@dataclass(frozen=True)
class Geometric:
    """η(i) = eta0 · ratio^(i-1)."""

    eta0: Rate = 1
    ratio: Rate = 0.5

    def __call__(self, i: int) -> Rate:
        return self.eta0 * self.ratio ** (i - 1)


NAMED: dict[str, Callable[[Rate], Schedule]] = {
    "constant": Constant,
    "inverse": Inverse,
    "inverse-square": InverseSquare,
    "geometric": Geometric,
}


def resolve(schedule: str | Schedule, eta0: Rate = 1) -> Schedule:
    """The schedule that a name means with `eta0`, or the callable itself.

    A callable gives η(i) in full: `eta0` does not multiply it.

    Raises ArgumentError if the name is not known, or `eta0` is negative or not finite;
    ArgumentTypeError if `schedule` is neither a name nor callable, or `eta0` is no number.
    """
    if callable(schedule):
        return schedule
    if not isinstance(schedule, str):
        raise ArgumentTypeError(
            f"schedule must be a name or a function of i, got {quote(repr(schedule))}"
        )
    if schedule not in NAMED:
        hint = did_you_mean(schedule, NAMED)
        raise ArgumentError(
            f"schedule {quote(schedule)} is not one of {', '.join(NAMED)}, or a function{hint}"
        )
    return NAMED[schedule](not_negative("eta0", eta0))


def step_size(schedule: Schedule, i: int) -> Rate:
    """η(i), once it is known to be a finite number that is not negative.

    Raises ArgumentError if i < 1, or the schedule's value is negative, NaN, infinite or too large
    for a float; ArgumentTypeError if the schedule's value is no real number.
    """
    if i < 1:
        raise ArgumentError(f"i must be 1 or more, got {i}: iterations are numbered from 1")
    what = f"schedule {_name(schedule)} at i = {i}"
    try:
        rate = schedule(i)
    except OverflowError:
        raise ArgumentError(f"{what} is too large for a float") from None
    return not_negative(what, rate)


@dataclass(frozen=True)
class Conditions:
    """Jenkins' three sufficient conditions for convergence on separable data."""

    not_negative: bool
    """(i) η(i) ≥ 0 for all i."""
    sum_diverges: bool
    """(ii) Σ η(i) grows without bound."""
    squares_vanish: bool
    """(iii) Σ η²(i) / (Σ η(i))² tends to 0."""

    @property
    def hold(self) -> bool:
        """True if all three hold."""
        return self.not_negative and self.sum_diverges and self.squares_vanish


def conditions(schedule: Schedule) -> Conditions:
    """Return which of the three sufficient conditions a built-in schedule fulfills.

    Constant and inverse: all. Inverse-square: not (ii), and (iii) tends to 2/5. Geometric: with
    ratio r < 1 not (ii), and (iii) tends to (1-r)/(1+r); with r > 1 not (iii), which tends to
    (r-1)/(r+1); r = 1 is the constant one. With eta0 = 0 nothing is learned: (ii) fails, and (iii)
    is 0/0.

    Raises ArgumentTypeError if `schedule` is not one of this module's: limits cannot be read off
    values.
    """
    if not isinstance(schedule, Constant | Inverse | InverseSquare | Geometric):
        raise ArgumentTypeError(
            f"schedule {_name(schedule)} is not a built-in one: its limits cannot be told"
        )
    not_negative("eta0", schedule.eta0)
    if schedule.eta0 == 0 or isinstance(schedule, InverseSquare):
        return Conditions(True, False, False)
    if isinstance(schedule, Geometric):
        ratio = not_negative("ratio", schedule.ratio)
        return Conditions(True, ratio >= 1, ratio == 1)
    return Conditions(True, True, True)


def not_negative(what: str, value: Any) -> Rate:
    """Return a number that is finite and 0 or more; raise if it is not."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ArgumentTypeError(f"{what} must be a number, got {quote(value)}")
    try:
        fits = math.isfinite(value) and not value < 0
    except OverflowError:
        fits = False
    if not fits:
        raise ArgumentError(f"{what} must be finite and 0 or more, got {in_message(value)}")
    return value  # type: ignore[return-value]


def _name(schedule: Schedule) -> str:
    return quote(getattr(schedule, "__name__", None) or repr(schedule))
