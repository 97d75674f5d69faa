"""Results as tables: data frames, and what notebooks show."""

from __future__ import annotations

from html import escape
from typing import Any

from perceptron_nlp._display import counted, printable
from perceptron_nlp.errors import missing_extra

_SHOWN_ROWS = 40


class Tabular:
    """A result that notebooks show as a table, and that can be had as a data frame."""

    __slots__ = ()

    def rows(self) -> list[dict[str, Any]]:
        """Return the result as a table: a dictionary for each row, all with the same keys."""
        raise NotImplementedError

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
