"""Sizes in bytes as people write them."""

from __future__ import annotations

import re

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, quote

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
