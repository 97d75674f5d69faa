"""A renderer for each form of a report: text for a terminal, TSV, Markdown, LaTeX, JSON, HTML."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from perceptron_nlp._display import FORMS, printable, shortened, shortened_inside
from perceptron_nlp.errors import ArgumentError, missing_extra
from perceptron_nlp.pages.reports import LEFT, Figure, Report, Table

WIDTH = 80
_NARROWEST_CELL = 5
Paint = Callable[[str, str], str]
_BOLD, _FAINT = "1", "2"


def written(report: Report, form: str, *, width: int | None = WIDTH) -> str:
    """Return a report in a form, one of FORMS; see Reported.to."""
    if form not in FORMS:
        raise ArgumentError(f"form: {form!r} is none of {', '.join(FORMS)}")
    if form == "json":
        return json_text(report.to_dict())
    if form == "tsv":
        return tsv(report.main_table)
    if form == "html":
        # Here and below, since most results are text.
        from perceptron_nlp.pages.html import page

        return page(report)
    if form == "text":
        lines = text_lines(report, width)
    else:
        lines = (markdown if form == "markdown" else latex)(report)
    return "\n".join(lines).rstrip("\n") + "\n"


def tsv(table: Table) -> str:
    """Return a heading, then a line for each row, separated by tabs; see tsv_cell."""
    lines = ["\t".join(column.key for column in table.columns)]
    lines += ["\t".join(map(tsv_cell, row)) for row in table.rows]
    return "\n".join(lines) + "\n"


class Reported:
    """A result that has a report, and by it text, JSON, rows and data frames."""

    __slots__ = ()

    def report(self) -> Report:
        """Return the result as figures, tables and notes."""
        raise NotImplementedError

    def to(self, form: str, *, width: int | None = WIDTH) -> str:
        """Return the result as text.

        Parameters
        ----------
        form : ``text`` for a terminal, ``json`` (everything), ``tsv`` (the main table, with every
            row), ``markdown``, ``latex`` (tables with booktabs), or ``html``, a page
        width : columns of text in a line, at least 20; None for as many as it takes

        Raises
        ------
        ArgumentError : there is no such form
        MissingExtraError : a page is asked for, and Jinja2 is not installed (extra ``report``)
        """
        return written(self.report(), form, width=width)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON can say it; see Report.to_dict."""
        return self.report().to_dict()

    def rows(self) -> list[dict[str, Any]]:
        """Return the main table: a dictionary for each row, all with the same keys."""
        return self.report().main_table.to_rows()

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
        from perceptron_nlp.pages.html import html

        return html(self.report())

    def __str__(self) -> str:
        return self.report().title


_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
# Spreadsheets calculate what begins so; a sign alone is punctuation.
_FORMULA = re.compile(r"'*[=+@-].")


def tsv_escaped(value: object) -> str:
    """Return text on one line: what may break lines of a table is escaped as Python writes it.

    Nothing else is, since labels are taken from tables again: lemmas may hold joiners.
    """
    return _BREAKS.sub(lambda found: ascii(found[0])[1:-1], str(value))


def tsv_cell(value: object) -> str:
    """Return a value for a table separated by tabs; see tsv_escaped.

    Text that a spreadsheet would take for a formula gets an apostrophe before it, which tsv_text
    takes away again.
    """
    if value is None:
        return ""
    text = tsv_escaped(value)
    return f"'{text}" if isinstance(value, str) and _FORMULA.match(text) else text


def tsv_text(cell: str) -> str:
    """Return the text of a cell without the apostrophe that tsv_cell put before it."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell[1:]) else cell


def json_text(value: Any) -> str:
    """Return JSON in which what is not printable is escaped."""
    lines = json.dumps(value, ensure_ascii=False, indent=2).split("\n")
    return "".join(
        "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line) + "\n"
        for line in lines
    )


def _unpainted(text: str, style: str) -> str:
    return text


def text_lines(report: Report, width: int | None = WIDTH, paint: Paint = _unpainted) -> list[str]:
    """Return a report as lines for a terminal, no wider than `width`; `paint` adds a style."""
    room = width or 1 << 30
    lines = [paint(shortened(printable(report.title), room), _BOLD)]
    lines += [shortened(line, room) for line in _figure_lines(report.figures)]
    for table in report.tables:
        if table.limit != 0 and table.rows:
            lines += ["", *_table_lines(table, room, paint)]
    if report.notes and (report.tables or report.figures):
        lines.append("")
    for note in report.notes:
        lines += _wrapped(printable(note), room, "")
    for section in report.seen_sections:
        lines += ["", *text_lines(section, width, paint)]
    if report.rest:
        lines += ["", *_wrapped(printable(report.rest), room, "")]
    return lines


def _figure_lines(figures: Sequence[Figure]) -> list[str]:
    """Return a line a figure: numbers end in one column."""
    seen = [figure for figure in figures if figure.kind != "data"]
    names = max((len(figure.heading) for figure in seen), default=0)
    numbers = max((len(one.text) for one in seen if one.kind not in LEFT), default=0)
    return [
        f"{one.heading:<{names}}  {one.text if one.kind in LEFT else one.text.rjust(numbers)}"
        f"  {printable(one.note)}".rstrip()
        for one in seen
    ]


def _table_lines(table: Table, room: int, paint: Paint) -> list[str]:
    columns, cells, rest = table.for_people()
    flat = [i for i, column in enumerate(columns) if column.kind != "prose"]
    below = [i for i, column in enumerate(columns) if column.kind == "prose"]
    grid = [[columns[i].heading for i in flat], *([row[i] for i in flat] for row in cells)]
    widths = _widths(grid, [columns[i].kind == "text" for i in flat], room)
    lines = [paint(shortened(printable(table.title), room), _BOLD)] if table.title else []
    for number, row in enumerate(grid):
        texts = [
            f"{shortened_inside(cell, width):{'<' if columns[i].kind in LEFT else '>'}{width}}"
            for i, cell, width in zip(flat, row, widths, strict=True)
        ]
        line = shortened("  ".join(texts).rstrip(), room)
        lines.append(line if number else paint(line, _FAINT if table.title else _BOLD))
        if number:
            for i in below:
                lines += _wrapped(cells[number - 1][i], room, "   ")
    return [*lines, shortened(rest, room)] if rest else lines


def _widths(grid: Sequence[Sequence[str]], is_text: Sequence[bool], room: int) -> list[int]:
    """Return the widths of columns; the widest of text give way where there is too little room."""
    widths = [max(map(len, cells)) for cells in zip(*grid, strict=True)]
    while sum(widths) + 2 * len(widths) - 2 > room:
        left = [i for i, width in enumerate(widths) if is_text[i] and width > _NARROWEST_CELL]
        if not left:
            break
        widths[max(left, key=lambda i: widths[i])] -= 1
    return widths


def _wrapped(text: str, room: int, indent: str) -> Iterator[str]:
    """Yield a text in lines of 80 columns at most; a number and its unit stay together."""
    width = min(room, WIDTH) - len(indent)
    line = ""
    for word in re.split(" (?!%)", text):
        if line and len(line) + 1 + len(word) > width:
            yield indent + line
            line = ""
        line = f"{line} {word}" if line else shortened(word, max(width, room - len(indent)))
    if line:
        yield indent + line


def _seen(report: Report) -> Iterator[tuple[str, list[str], list[list[str]], list[bool], str]]:
    """Yield the figures, then each table, as title, heads, rows, which are numbers, a remark."""
    figures = [figure for figure in report.figures if figure.kind != "data"]
    if figures:
        rows = [[one.heading, one.text, printable(one.note)] for one in figures]
        has_notes = any(row[2] for row in rows)
        heads = ["", "", ""] if has_notes else ["", ""]
        is_number = not any(one.kind in LEFT for one in figures)
        yield "", heads, [row[: len(heads)] for row in rows], [False, is_number, False], ""
    for table in report.tables:
        if table.limit != 0 and table.rows:
            columns, cells, rest = table.for_people()
            kinds = [column.kind not in LEFT for column in columns]
            yield printable(table.title), [c.heading for c in columns], cells, kinds, rest


def markdown(report: Report, level: int = 2) -> list[str]:
    lines = [f"{'#' * level} {_marked(report.title)}", ""]
    for title, heads, rows, numbers, rest in _seen(report):
        if title:
            lines += [f"**{_marked(title)}**", ""]
        rules = ["---:" if number else "---" for number in numbers[: len(heads)]]
        for row in ([*map(_marked, heads)], rules, *([*map(_marked, row)] for row in rows)):
            lines.append(f"| {' | '.join(row)} |")
        lines += ["", *([_marked(rest), ""] if rest else [])]
    for note in report.notes:
        lines += [_marked(note), ""]
    for section in report.seen_sections:
        lines += [*markdown(section, level + 1), ""]
    return lines[:-1]


def _marked(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>|#~$])", r"\\\1", printable(text))


_TEX = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "→": r"$\rightarrow$",
    "±": r"$\pm$",
    "−": "$-$",
    "–": r"\textendash{}",
    "…": r"\ldots{}",
}


def latex(report: Report) -> list[str]:
    lines = [f"% {printable(report.title)}"]
    for title, heads, rows, numbers, rest in _seen(report):
        caption = ": ".join(filter(None, [report.title, title]))
        layout = "".join("r" if number else "l" for number, _ in zip(numbers, heads, strict=False))
        lines += [r"\begin{table}", rf"\caption{{{_tex(caption)}}}", r"\centering"]
        lines += [rf"\begin{{tabular}}{{{layout}}}", r"\toprule"]
        if any(heads):
            lines += [" & ".join(map(_tex, heads)) + r" \\", r"\midrule"]
        for row in rows:
            cells = [_tex(cell) for cell in row]
            # A hyphen is no minus.
            signed = [re.sub(r"^-(?=\d)", "$-$", cell) for cell in cells]
            cells = [b if n else a for a, b, n in zip(cells, signed, numbers, strict=False)]
            lines.append(" & ".join(cells) + r" \\")
        lines += [r"\bottomrule", r"\end{tabular}", *([f"% {rest}"] if rest else [])]
        lines += [r"\end{table}", ""]
    lines += [_tex(note) + "\n" for note in report.notes]
    for section in report.seen_sections:
        lines += latex(section)
    return lines


def _tex(text: str) -> str:
    escaped = "".join(_TEX.get(character, character) for character in printable(text))
    # Two hyphens, as in the name of an option, are no dash.
    return re.sub("-(?=-)", "-{}", escaped)
