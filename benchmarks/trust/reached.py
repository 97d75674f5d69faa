"""What a row of the table is, and what its check found."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Reached(NamedTuple):
    """What a check found: the figure, in words, and whether the promise is kept."""

    figure: str
    kept: bool


class Row(NamedTuple):
    """One promise.

    ``check(full)`` runs it in its full or its quick size. ``beside`` names peers that the full
    size measures too, for comparison. ``alone`` rows measure time, so nothing runs beside them.
    """

    id: str
    promise: str
    wanted: str
    check: Callable[[bool], Reached]
    beside: tuple[tuple[str, Callable[[bool], Reached]], ...] = ()
    alone: bool = False


class Missing(Exception):
    """A check cannot run here; the text says what is missing."""


def count_of(found: list[str], tried: int, what: str) -> Reached:
    """The figure of a check that collects what went wrong: ``found`` out of ``tried``."""
    first = f"; first: {found[0]}" if found else ""
    return Reached(f"{tried - len(found):,} of {tried:,} {what}{first}", not found)
