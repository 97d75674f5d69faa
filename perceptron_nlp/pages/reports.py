"""Reports: results as figures, tables and notes, and the forms in which they are shown.

Every result (an evaluation, a comparison, a search …) describes itself once, as a Report. A report
becomes text for a terminal, JSON, a table separated by tabs, Markdown, LaTeX or HTML by one
renderer each, so that all results look alike and hold the same figures in every form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from perceptron_nlp._display import counted, p_value, points, printable


def _count(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.0f}"


_LISTED = 60


def _list(values: Sequence[Any]) -> str:
    texts = [shown(value, "count") if isinstance(value, int) else str(value) for value in values]
    more = " …" if len(texts) > _LISTED else ""
    return printable(f"{len(texts):,}: {' '.join(texts[:_LISTED])}{more}")


def _interval(bounds: tuple[float, float]) -> str:
    return f"{points(bounds[0])} to {points(bounds[1])}"


_KINDS: dict[str, Callable[[Any], str]] = {
    "text": printable,
    "prose": printable,
    "list": _list,
    "count": _count,
    "percent": points,
    "change": lambda value: points(value, sign=True),
    "interval": _interval,
    "number": lambda value: f"{value:.4f}",
    "weight": lambda value: f"{value:+.3f}",
    "p": lambda value: p_value(value).removeprefix("p = ").removeprefix("p "),
    "data": printable,
}
"""Kinds of values, and how people read them.

Shares are fractions of 1, shown in percent: ``percent``, ``change`` (with its sign), ``interval``
(two of them). ``list`` is counted, with the first values. ``text`` is cut where there is no room,
``prose`` stands below its row, ``data`` is in JSON alone.
"""
LEFT = {"text", "prose", "list"}


class Link(NamedTuple):
    """A value of a table that leads on, on pages: to a section of its report, or to a file.

    value : as without a link
    target : the key of the section, or the name of the file
    fill : how strongly the cell is filled: 0 to 1 for what is correct, 0 to -1 for what is wrong
    """

    value: Any
    target: str
    fill: float | None = None


def shown(value: Any, kind: str) -> str:
    """Return a value as people read it; None is a dash."""
    value = _plain(value)
    return "–" if value is None else _KINDS[kind](value)


class Column(NamedTuple):
    """A column of a table: its key in JSON, the kind of its values, and its heading.

    The heading is by default the key with spaces.
    """

    key: str
    kind: str = "text"
    label: str | None = None

    @property
    def heading(self) -> str:
        """The heading that people see."""
        return printable(self.key.replace("_", " ") if self.label is None else self.label)


class Figure(NamedTuple):
    """A value with its name: key in JSON, value, kind, the name that people see, and a note.

    A value of None is shown as a dash.
    """

    key: str
    value: Any
    kind: str = "count"
    label: str | None = None
    note: str = ""

    @property
    def heading(self) -> str:
        """The name that people see."""
        return printable(self.key.replace("_", " ") if self.label is None else self.label)

    @property
    def text(self) -> str:
        """The value as people read it."""
        return shown(self.value, self.kind) + (
            " %" if self.kind in ("percent", "interval") and self.value is not None else ""
        )


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns.

    key : its name in JSON
    title : its heading; empty for none
    columns : the columns; those of kind ``data`` are in JSON and data frames alone
    rows : a value for each column; None is shown as a dash
    limit : people see so many rows at most; 0: the table is in JSON and TSV alone; None: all
    more : how to see more rows
    """

    key: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    limit: int | None = None
    more: str = ""

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a dictionary for each row, all with the same keys."""
        keys = [column.key for column in self.columns]
        return [dict(zip(keys, map(_plain, row), strict=True)) for row in self.rows]

    @property
    def seen_columns(self) -> list[int]:
        """The places of columns that people see, which have values."""
        return [
            i
            for i, column in enumerate(self.columns)
            if column.kind != "data" and any(row[i] is not None for row in self.rows)
        ]

    def for_people(self) -> tuple[list[Column], list[list[str]], str]:
        """Return what people see: columns with values, texts, a remark on rows left out."""
        places = self.seen_columns
        seen = self.rows if self.limit is None else self.rows[: self.limit]
        left = len(self.rows) - len(seen)
        rest = f"… and {counted(left, 'more row')}" + (f" ({self.more})" if self.more else "")
        columns = [self.columns[i] for i in places]
        cells = [[shown(row[i], self.columns[i].kind) for i in places] for row in seen]
        return columns, cells, rest if left else ""


class Chart(NamedTuple):
    """A chart, drawn: its key, its heading, a text for those who do not see it, and its files.

    `table` has the same figures.
    """

    key: str
    title: str
    alt: str
    svg: bytes
    png: bytes = b""
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """A result as people and programs read it.

    title : the result in a line
    figures, tables, notes : its values, its tables, and sentences
    sections : reports on parts of it
    main : the key of the table that TSV and data frames have; by default the first one's
    limit : people see so many sections at most; JSON has all
    more : how to see more of them
    charts : pages have them
    key : of a section, by which pages lead to it
    is_sheet : pages show it only where a link opens it
    """

    title: str
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    sections: Sequence[Report] = ()
    main: str = ""
    limit: int | None = None
    more: str = ""
    charts: Sequence[Chart] = ()
    key: str = ""
    is_sheet: bool = False

    @property
    def seen_sections(self) -> Sequence[Report]:
        """The sections that people see."""
        return self.sections if self.limit is None else self.sections[: self.limit]

    @property
    def rest(self) -> str:
        """A remark on sections that people do not see; else nothing."""
        left = len(self.sections) - len(self.seen_sections)
        return f"… and {counted(left, 'more section')} ({self.more})" if left else ""

    @property
    def main_table(self) -> Table:
        """The table that TSV and data frames have; an empty one if there is none."""
        found = [table for table in self.tables if self.main in ("", table.key)]
        return found[0] if found else Table("", "", (), ())

    def to_dict(self) -> dict[str, Any]:
        """Return figures and tables by their keys, as JSON can say them; shares are fractions."""
        found: dict[str, Any] = {"title": self.title}
        found |= {figure.key: _plain(figure.value) for figure in self.figures}
        found |= {table.key: table.to_rows() for table in self.tables}
        if self.notes:
            found["notes"] = list(self.notes)
        if self.sections:
            found["sections"] = [section.to_dict() for section in self.sections]
        return found


def _plain(value: Any) -> Any:
    if isinstance(value, Link):
        return value.value
    return list(value) if isinstance(value, tuple) else value
