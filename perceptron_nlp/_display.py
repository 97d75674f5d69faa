"""Text, figures and tables as people read them: in a terminal, on a page, in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from perceptron_nlp.errors import missing_extra

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


_SHOWN_ROWS = 40


class Tabular:
    """A result that notebooks show as a table, and that can be had as a data frame."""

    __slots__ = ()

    rows: Callable[[], list[dict[str, Any]]]
    """Return the result as a table: a dictionary for each row, all with the same keys."""

    def to_frame(self) -> Any:
        """Return the rows as a data frame of pandas, or of Polars where pandas is not installed.

        Raises MissingExtraError where neither is (extra ``frames``).
        """
        try:
            import pandas  # type: ignore[import-untyped, unused-ignore]

            return pandas.DataFrame(self.rows())
        except ImportError:
            pass
        try:
            import polars
        except ImportError:
            raise missing_extra("pandas or Polars", "frames") from None
        return polars.DataFrame(self.rows())

    def _repr_html_(self) -> str:
        """Return the result as notebooks show it: its line, and below it the first rows."""
        # Here, since most programs show none.
        from html import escape

        rows, line = self.rows(), str(self).partition("\n")[0]
        head = "".join(f"<th>{escape(name)}</th>" for name in (rows[0] if rows else ()))
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(_cell(value))}</td>" for value in row.values()) + "</tr>"
            for row in rows[:_SHOWN_ROWS]
        )
        more = len(rows) - _SHOWN_ROWS
        left = f"<p>… and {counted(more, 'more row')}</p>" if more > 0 else ""
        return (
            f"<p>{escape(printable(line))}</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{left}"
        )


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.4f}" if isinstance(value, float) else printable(value)
