"""Arguments looked over: what is of another type, or out of its range, is named."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, quote
from perceptron_nlp.text.sentence import Sentence


def check_int(name: str, value: object, low: int, high: int) -> None:
    """Raise unless value is an int from low to high; the message names the argument."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise ArgumentTypeError(f"{name}: an int is needed, not {type(value).__name__}")
    if not low <= value <= high:
        raise ArgumentError(f"{name}: {value} is not between {low:,} and {high:,}")


def check_number(name: str, value: object, low: float, high: float) -> None:
    """Raise unless value is a number from low to high; the message names the argument."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ArgumentTypeError(f"{name}: a number is needed, not {type(value).__name__}")
    if not low <= value <= high:
        raise ArgumentError(f"{name}: {value} is not between {low:,} and {high:,.0f}")


def check_flag(name: str, value: object) -> None:
    """Raise unless value is True or False; the message names the argument."""
    if not isinstance(value, bool):
        raise ArgumentTypeError(f"{name}: a bool is needed, not {type(value).__name__}")


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


def check_tokens(tokens: object) -> None:
    """Raise unless tokens is something to go over, and no text."""
    if isinstance(tokens, str | bytes) or not isinstance(tokens, Iterable):
        raise ArgumentTypeError(f"tokens: a list of words is needed, not {type(tokens).__name__}")


def token_list(tokens: Sequence[str]) -> Sequence[str]:
    """The tokens of a sentence as something that can be gone over more than once."""
    check_tokens(tokens)
    return tokens if isinstance(tokens, Sentence) else list(tokens)


def sentence_list(sentences: Iterable[Sequence[str]]) -> list[Sequence[str]]:
    """The sentences as a list."""
    if isinstance(sentences, str | bytes) or not isinstance(sentences, Iterable):
        raise ArgumentTypeError(
            f"sentences: a list of sentences is needed, not {type(sentences).__name__}"
        )
    return list(sentences)


_UNITS = {
    "": 1,
    "B": 1,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KiB": 1 << 10,
    "MiB": 1 << 20,
    "GiB": 1 << 30,
}
_BY_LETTERS = {unit.lower(): factor for unit, factor in _UNITS.items()}
_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,9})?)\s*([A-Za-z]*)", re.ASCII)


def parse_size(size: int | str, name: str = "size") -> int:
    """Bytes out of a number, or of text such as ``400kB``, ``1.1MB`` or ``2 MiB``.

    Parameters
    ----------
    size : an int, or a number and a unit: B, kB, MB, GB (of 1,000) or KiB, MiB, GiB (of 1,024)
    name : the argument's, for messages

    Raises
    ------
    ArgumentTypeError : neither an int nor a str
    ArgumentError : no size, or one below 1
    """
    if isinstance(size, bool) or not isinstance(size, int | str):
        raise ArgumentTypeError(f"{name}: an int or a str is needed, not {type(size).__name__}")
    if isinstance(size, int):
        n_bytes = size
    else:
        match = _SIZE.fullmatch(size.strip())
        factor = None if match is None else _BY_LETTERS.get(match[2].lower())
        if match is None or factor is None:
            raise ArgumentError(
                f"{name}: {quote(size)} is not a size such as 400kB or 1.1MB;"
                f" units are {', '.join(filter(None, _UNITS))}"
            )
        n_bytes = int(float(match[1]) * factor)
    if n_bytes < 1:
        raise ArgumentError(f"{name}: {quote(size)} is less than one byte")
    return n_bytes
