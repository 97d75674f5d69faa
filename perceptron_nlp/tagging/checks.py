"""Arguments looked over: what is of another type, or out of its range, is named."""

from __future__ import annotations

from collections.abc import Iterable

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, quote


def check_int(name: str, value: object, low: int, high: int) -> None:
    """Raise unless value is an int from low to high; the message names the argument."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise ArgumentTypeError(f"{name}: an int is needed, not {type(value).__name__}")
    if not low <= value <= high:
        raise ArgumentError(f"{name}: {value} is not between {low:,} and {high:,}")


def check_choice(name: str, value: object, choices: Iterable[str]) -> None:
    """Raise unless value is one of the choices; the message gives the nearest."""
    known = list(choices)
    if not isinstance(value, str):
        raise ArgumentTypeError(f"{name}: a str is needed, not {type(value).__name__}")
    if value not in known:
        # Here, since a program that nothing goes wrong in does without.
        import difflib

        near = difflib.get_close_matches(value, known, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ArgumentError(f"{name}: {quote(value)} is not one of {', '.join(known)}{hint}")
