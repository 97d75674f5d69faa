"""Text, figures and tables as people read them: in a terminal, on a page, in a notebook."""

from __future__ import annotations

# Forms in which results are shown; see pages/renderers.py.
FORMS = ("text", "tsv", "markdown", "latex", "json", "html")


def printable(value: object) -> str:
    """Return text of any origin on one line, fit for printing: what is not printable is escaped.

    So no file can move a cursor, color a terminal or forge a line of output.
    """
    text = str(value)
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else ascii(character)[1:-1] for character in text
    )


def percent(share: float | None, decimals: int = 2) -> str:
    """Return a fraction of 1 in percent (``93.25 %``), a dash for None."""
    return "–" if share is None else f"{100 * share:.{decimals}f} %"


def points(share: float, *, sign: bool = False) -> str:
    """Return a fraction of 1 in hundredths, without a unit: F1, or a difference with its sign."""
    return f"{100 * share:+.2f}" if sign else f"{100 * share:.2f}"


def between(bounds: tuple[float, float] | None) -> str:
    """Return an interval of fractions in percent (``92.10 to 94.02 %``), a dash for None."""
    return "–" if bounds is None else f"{points(bounds[0])} to {percent(bounds[1])}"


def counted(count: int, name: str) -> str:
    """Return a count with its noun (``1 label``, ``1,204 labels``)."""
    return f"{count:,} {name}{'' if count == 1 else 's'}"


def p_value(value: float) -> str:
    """Return a p-value with four decimals, or its bound (``p = 0.0312``, ``p < 0.0001``)."""
    return f"p = {value:.4f}" if value >= 0.0001 else "p < 0.0001"


def shortened(text: str, width: int) -> str:
    """Return the text cut to a width in columns of a terminal, with an ellipsis for its end."""
    if text.isascii():
        return text if len(text) <= width else text[: max(0, width - 1)] + "…"
    if sum(map(_columns, text)) <= width:
        return text
    used = 1
    for at, character in enumerate(text):
        used += _columns(character)
        if used > width:
            return text[:at] + "…"
    return text


def _columns(character: str) -> int:
    """Return the columns that a character takes: accents that combine none, wide ones two."""
    # Here, since most of what is shown is ASCII.
    from unicodedata import combining, east_asian_width

    if combining(character):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def shortened_inside(text: str, width: int) -> str:
    """Return the text cut in its middle to a width in characters: the end of a path says most."""
    if len(text) <= width:
        return text
    tail = 2 * max(0, width - 1) // 3
    return f"{text[: max(0, width - 1 - tail)]}…{text[len(text) - tail :]}"
