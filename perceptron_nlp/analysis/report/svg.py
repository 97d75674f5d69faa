"""Charts as SVG, drawn by the page's own means: nothing is needed to see them but a browser.

Shapes have classes, whose colours are those of the page (page.css) or, in a file of its own, of
the style that is put into it.
"""

from __future__ import annotations

from collections.abc import Iterator

from perceptron_nlp.analysis.report.charts import BARS, DOTS, Chart, Grid, Point, Series
from perceptron_nlp.analysis.report.markup import safe

# Narrow, so that letters stay legible where the chart is shrunk to the width of a telephone.
WIDTH, HEIGHT = 340, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 20, 34, 46
_CELL = 24
_LETTER = 6.6
MARKERS = ("circle", "square", "triangle")
STYLE = """\
svg.chart{--ink:#1b1b1b;--soft:#595959;--line:#d8d8d8;--paper:#fff;--s0:#0068a8;--s1:#b35300;
--s2:#00795a;font:12px system-ui,sans-serif}
@media(prefers-color-scheme:dark){svg.chart{--ink:#ececec;--soft:#b4b4b4;--line:#41464c;
--paper:#1d2024;--s0:#5cb4f0;--s1:#f0a04b;--s2:#4fc9a4}}
.chart text{fill:var(--soft)}.chart .grid{stroke:var(--line)}.chart .axis{stroke:var(--soft)}
.chart .diagonal{stroke:var(--ink);stroke-dasharray:5 4}
.chart .line{fill:none;stroke-width:2}.chart .s0{stroke:var(--s0)}.chart .s1{stroke:var(--s1)}
.chart .s2{stroke:var(--s2)}.chart .line.s1{stroke-dasharray:6 3}
.chart .line.s2{stroke-dasharray:2 3}.chart .mark{fill:var(--paper);stroke-width:2}
.chart .span{stroke-width:1.5}.chart .bar{fill:var(--s0);fill-opacity:.3}
.chart .hit{fill:var(--s0)}.chart .miss{fill:var(--s1)}.chart .cell{stroke:var(--line)}
.chart .name{fill:var(--ink)}
"""


def drawn(chart: Chart | Grid) -> str:
    """The chart as an ``svg`` element of a page that has STYLE."""
    return _grid(chart) if isinstance(chart, Grid) else _chart(chart)


def file(chart: Chart | Grid) -> bytes:
    """The chart as a file of its own."""
    text = drawn(chart)
    end = text.index(">") + 1
    ground = '<rect width="100%" height="100%" style="fill:var(--paper)"/>'
    return (
        text[:end].replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
        + f"<style>{STYLE}</style>{ground}{text[end:]}\n"
    ).encode()


def _opening(chart: Chart | Grid, width: float, height: float) -> str:
    return (
        f'<svg class="chart" viewBox="0 0 {width:.0f} {height:.0f}" role="img"'
        f' aria-label="{safe(chart.alt)}"><title>{safe(chart.title)}</title>'
    )


def _chart(chart: Chart) -> str:
    place = _Place(chart)
    bottom = HEIGHT - _BOTTOM
    parts = [_opening(chart, WIDTH, HEIGHT)]
    for y, text in chart.y_ticks:
        at = place.y(y)
        parts.append(
            f'<line class="grid" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{at:.1f}"'
            f' y2="{at:.1f}"/><text x="{_LEFT - 6}" y="{at + 4:.1f}"'
            f' text-anchor="end">{safe(text)}</text>'
        )
    parts.append(
        f'<line class="axis" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{bottom}" y2="{bottom}"/>'
    )
    parts += [
        f'<text x="{place.x(x):.1f}" y="{bottom + 16}" text-anchor="middle">{safe(text)}</text>'
        for x, text in chart.x_ticks
    ]
    parts.append(
        f'<text x="{(_LEFT + WIDTH - _RIGHT) / 2:.0f}" y="{HEIGHT - 10}"'
        f' text-anchor="middle">{safe(chart.x_label)}</text>'
    )
    if chart.diagonal:
        low, high = chart.x_range
        parts.append(
            f'<line class="diagonal" x1="{place.x(low):.1f}" y1="{place.y(low):.1f}"'
            f' x2="{place.x(high):.1f}" y2="{place.y(high):.1f}"/>'
        )
    for series in chart.series:
        parts += _series(series, place)
    parts += _legend(chart)
    return "".join([*parts, "</svg>"])


class _Place:
    """From what is shown to where it stands."""

    def __init__(self, chart: Chart) -> None:
        self._chart = chart

    def x(self, value: float) -> float:
        low, high = self._chart.x_range
        share = (value - low) / (high - low) if high > low else 0.5
        return _LEFT + share * (WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        low, high = self._chart.y_range
        share = (value - low) / (high - low) if high > low else 0.5
        return HEIGHT - _BOTTOM - share * (HEIGHT - _BOTTOM - _TOP)


def _series(series: Series, place: _Place) -> Iterator[str]:
    kind = f"s{series.style}"
    at = [(place.x(point.x), place.y(point.y)) for point in series.points]
    if series.kind == BARS:
        for point in series.points:
            left, right = place.x(point.x - point.half), place.x(point.x + point.half)
            yield (
                f'<rect class="bar {kind}" x="{left:.1f}" y="{place.y(point.y):.1f}"'
                f' width="{right - left:.1f}"'
                f' height="{HEIGHT - _BOTTOM - place.y(point.y):.1f}"/>'
            )
        return
    if series.kind != DOTS:
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
        yield f'<polyline class="line {kind}" points="{joined}"/>'
    for point, (x, y) in zip(series.points, at, strict=True):
        yield from _whisker(point, x, place, kind)
        yield marker(x, y, series.style)


def _whisker(point: Point, x: float, place: _Place, kind: str) -> Iterator[str]:
    if point.low is not None and point.high is not None:
        low, high = place.y(point.low), place.y(point.high)
        yield (
            f'<path class="span {kind}" d="M{x:.1f} {low:.1f}V{high:.1f}M{x - 4:.1f} {low:.1f}'
            f'h8M{x - 4:.1f} {high:.1f}h8"/>'
        )


def marker(x: float, y: float, style: int) -> str:
    """A mark whose shape tells of which series it is."""
    kind = f'class="mark s{style}"'
    shape = MARKERS[style % len(MARKERS)]
    if shape == "circle":
        return f'<circle {kind} cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>'
    if shape == "square":
        return f'<rect {kind} x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6"/>'
    return f'<path {kind} d="M{x:.1f} {y - 4:.1f}l4 7h-8z"/>'


def _legend(chart: Chart) -> Iterator[str]:
    x = float(_LEFT)
    entries = [(series.name, series) for series in chart.series if series.name]
    for name, series in entries:
        if series.kind == BARS:
            yield f'<rect class="bar s{series.style}" x="{x:.1f}" y="8" width="20" height="9"/>'
        else:
            if series.kind != DOTS:
                yield f'<path class="line s{series.style}" d="M{x:.1f} 12h20"/>'
            yield marker(x + 10, 12, series.style)
        yield f'<text x="{x + 25:.1f}" y="16">{safe(name)}</text>'
        x += 38 + _LETTER * len(name)
    if chart.diagonal:
        yield (
            f'<path class="diagonal" d="M{x:.1f} 12h20"/><text x="{x + 25:.1f}" y="16">equal</text>'
        )


def _grid(grid: Grid) -> str:
    n = len(grid.names)
    longest = max((len(name) for name in grid.names), default=0)
    left = 34 + _LETTER * longest
    top = 30 + _LETTER * longest
    width, height = left + n * _CELL + 12, top + n * _CELL + 12
    parts = [
        _opening(grid, width, height),
        f'<text x="{left + n * _CELL / 2:.0f}" y="14" text-anchor="middle">'
        f"{safe(grid.x_label)}</text>",
        f'<text transform="translate(14 {top + n * _CELL / 2:.0f}) rotate(-90)"'
        f' text-anchor="middle">{safe(grid.y_label)}</text>',
    ]
    for i, name in enumerate(grid.names):
        middle = i * _CELL + _CELL / 2 + 4
        parts.append(
            f'<text class="name" x="{left - 6:.1f}" y="{top + middle:.1f}"'
            f' text-anchor="end">{safe(name)}</text>'
            f'<text class="name" transform="translate({left + middle:.1f} {top - 6:.1f})'
            f' rotate(-90)">{safe(name)}</text>'
        )
    for i, row in enumerate(grid.counts):
        for j, count in enumerate(row):
            parts.append(_square(grid, i, j, count, left + j * _CELL, top + i * _CELL))
    return "".join([*parts, "</svg>"])


def _square(grid: Grid, i: int, j: int, count: int, x: float, y: float) -> str:
    kind = "hit" if i == j else "miss"
    square = (
        f'<rect class="cell" x="{x:.1f}" y="{y:.1f}" width="{_CELL}" height="{_CELL}" fill="none"/>'
    )
    if not count:
        return square
    strength = 0.75 * grid.strength(i, j)
    size = 9 if count < 1000 else 7
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{_CELL}" height="{_CELL}"'
        f' fill-opacity="{strength:.2f}"/>{square}'
        f'<text class="name" x="{x + _CELL / 2:.1f}" y="{y + _CELL / 2 + 3:.1f}"'
        f' style="font-size:{size}px" text-anchor="middle">{_short(count)}</text>'
    )


def _short(count: int) -> str:
    """A count in at most four characters, or as many as its thousands have."""
    return str(count) if count < 10_000 else f"{count // 1000}k"
