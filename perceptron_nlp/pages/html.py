"""Reports as HTML: elements that notebooks show, and pages, whose links open parts of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from perceptron_nlp._display import counted, printable
from perceptron_nlp.pages import render
from perceptron_nlp.pages.drawing import inlined
from perceptron_nlp.pages.reports import LEFT, Column, Link, Report, Table, shown

# Rows of a page that are there to be opened; JSON has all.
_MOST_ROWS = 1000


def page(report: Report, **more: Any) -> str:
    """Return a page of HTML that needs nothing beside itself.

    Parameters
    ----------
    report : its sections that have keys are the contents
    more : further variables of ``templates/result.html``

    Raises MissingExtraError if Jinja2 is not installed (extra ``report``).
    """
    usual: dict[str, Any] = {"kind": "result", "eyebrow": "", "lead": "", "pages": (), "here": ""}
    usual |= {"foot": "", "data": None}
    body = "\n".join(_html_parts(report, 2, is_page=True))
    return render("result.html", report=report, body=body, **(usual | more))


def html(report: Report, level: int = 2) -> str:
    """Return a report as elements of a page; notebooks show them as they are."""
    return "\n".join([_heading(report, level), *_html_parts(report, level + 1)])


def _escaped(text: object) -> str:
    return escape(printable(text), quote=True)


def _heading(report: Report, level: int, id: str = "") -> str:
    id = f' id="{id}"' if id else ""
    return f"<h{level}{id}>{_escaped(report.title)}</h{level}>"


def _html_parts(report: Report, level: int, *, is_page: bool = False) -> Iterator[str]:
    """Yield what stands below the title of a report; pages have tiles, notebooks a table."""
    figures = [figure for figure in report.figures if figure.kind != "data"]
    if figures and is_page:
        tiles = (
            f"<div><dt>{_escaped(one.heading)}</dt><dd>{_escaped(one.text)}</dd>"
            + (f"<dd>{_escaped(one.note)}</dd></div>" if one.note else "</div>")
            for one in figures
        )
        yield f'<dl class="tiles">{"".join(tiles)}</dl>'
    elif figures:
        cells = [[_escaped(text) for text in (one.heading, one.text, one.note)] for one in figures]
        numbers = [False, not any(one.kind in LEFT for one in figures), False]
        yield _grid(report.title, "", (), cells, numbers)
    charts = []
    for chart in report.charts:
        drawn = inlined(chart.svg, f"chart-{chart.key}", chart.alt)
        rows = (
            ""
            if chart.table is None
            else "".join(_html_table(chart.table, chart.title, is_page=is_page))
        )
        rows = rows and f"<details><summary>As a table</summary>{rows}</details>"
        charts.append(f"<figure><h3>{_escaped(chart.title)}</h3>{drawn}{rows}</figure>")
    if charts:
        yield f'<div class="charts">{"".join(charts)}</div>'
    for table in report.tables:
        if table.limit != 0 and table.rows:
            yield from _html_table(table, report.title, is_page=is_page)
    yield from (f"<p>{_escaped(note)}</p>" for note in report.notes)
    for one in report.seen_sections:
        yield _html_section(one, level, "\n".join(_html_parts(one, level + 1, is_page=is_page)))
    if report.rest:
        yield f"<p>{_escaped(report.rest)}</p>"


def _html_section(report: Report, level: int, inner: str) -> str:
    key = _escaped(report.key)
    if report.is_sheet:
        return (
            f'<div popover id="{key}" class="sheet" role="dialog" aria-labelledby="h-{key}"><div>'
            f'{_heading(report, 3, f"h-{key}")}<button type="button" class="close"'
            f' popovertarget="{key}" popovertargetaction="hide">Close</button></div>{inner}</div>'
        )
    if key:
        head = _heading(report, level, f"h-{key}")
        return f'<section id="{key}" aria-labelledby="h-{key}">{head}\n{inner}</section>'
    return f"{_heading(report, min(6, level))}\n{inner}"


def _html_table(table: Table, name: str, *, is_page: bool) -> Iterator[str]:
    """Yield the rows that people see; pages have the rest in an element to be opened."""
    places = table.seen_columns
    columns = [table.columns[i] for i in places]
    numbers = [column.kind not in LEFT for column in columns]
    limit = len(table.rows) if table.limit is None else table.limit
    rest = table.rows[limit : limit + _MOST_ROWS]
    fills = any(isinstance(value, Link) and value.fill is not None for value in table.rows[0])

    def grid(rows: Sequence[Sequence[Any]]) -> str:
        cells = []
        for row in rows:
            name_of_row = shown(row[places[0]], columns[0].kind)
            shown_ones = zip([row[i] for i in places], columns, strict=True)
            cells.append([_html_cell(value, column, name_of_row) for value, column in shown_ones])
        heads = [column.heading for column in columns]
        of = name if rows is not rest else f"{name}, more"
        return _grid(of, table.title, heads, cells, numbers, ' class="matrix"' * fills)

    yield grid(table.rows[:limit])
    if rest and not is_page:
        yield f"<p>{_escaped(table.for_people()[2])}</p>"
    elif rest:
        more = counted(len(table.rows) - limit, "more row")
        yield f"<details><summary>{more}</summary>{grid(rest)}</details>"


def _html_cell(value: Any, column: Column, row: str) -> str:
    """Return a value as an element; what leads on says of which row and column it is."""
    text = _escaped(shown(value, column.kind))
    if column.kind in LEFT and value is not None:
        # Words may be written in another direction than the page; feature sets may be broken.
        text = f"<bdi>{text.replace('|', '|<wbr>')}</bdi>"
    if not isinstance(value, Link):
        return text
    if value.target.endswith(".html"):
        return f'<a href="{_escaped(value.target)}">{text}</a>'
    label = _escaped(f"{row}, {column.heading}: {shown(value, column.kind)}")
    fill = ""
    if value.fill is not None:
        hit = ' class="hit"' if value.fill > 0 else ""
        fill = f'<i{hit} style="opacity:{0.45 * abs(value.fill):.2f}"></i>'
    return (
        f'{fill}<button type="button" class="open" popovertarget="{_escaped(value.target)}"'
        f' aria-label="{label}">{text}</button>'
    )


def _grid(
    name: str,
    caption: str,
    heads: Sequence[str],
    cells: Sequence[Sequence[str]],
    numbers: Sequence[bool],
    kind: str = "",
) -> str:
    """Return a table of cells that are elements; the first column names the rows.

    A table that is wider than the screen scrolls by itself, by keyboard as well.
    """
    sides = [
        "" if kind else f' style="text-align:{"right" if is_number else "left"}"'
        for is_number in numbers
    ]
    # Regions of one page have different names.
    label = _escaped(": ".join(filter(None, [caption, name])))
    parts = [f'<div class="wide" role="region" aria-label="{label}" tabindex="0"><table{kind}>']
    parts.append(f"<caption><span>{_escaped(caption)}</span></caption>" if caption else "")
    if any(heads):
        line = (
            f'<th scope="col"{side}>{escape(head)}</th>' if head else "<td></td>"
            for head, side in zip(heads, sides, strict=False)
        )
        parts.append(f"<thead><tr>{''.join(line)}</tr></thead>")
    parts.append("<tbody>")
    for first, *others in cells:
        line = (f"<td{side}>{cell}</td>" for cell, side in zip(others, sides[1:], strict=False))
        head = f'<th scope="row"{sides[0]}>{first}</th>'
        parts.append(f"<tr>{head}{''.join(line)}</tr>")
    return "\n".join([*filter(None, parts), "</tbody></table></div>"])
