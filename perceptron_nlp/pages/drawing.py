"""Charts in one look, drawn by matplotlib: SVG and PNG, the same bytes on each run."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from perceptron_nlp._display import printable
from perceptron_nlp.errors import missing_extra

# Okabe and Ito's colors, which color-blind readers can tell apart; lines also differ in style and
# markers, so that no chart needs its colors.
BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, BLACK, GREY = (
    "#0072b2", "#d55e00", "#009e73", "#e69f00", "#cc79a7", "#56b4e9", "#222222", "#767676",
)  # fmt: skip
PALE_BLUE, PALE_ORANGE = "#dcebf5", "#fbe5d6"
_LINES, _PAPER = "#e4e4e4", "#ffffff"
# Where a page takes a chart in, these colors are those of its stylesheet, which knows dark themes.
_OF_THE_PAGE = {
    BLUE: "--good",
    VERMILION: "--bad",
    GREEN: "--third",
    ORANGE: "--fourth",
    PURPLE: "--fifth",
    SKY: "--sixth",
    PALE_BLUE: "--goodpaper",
    PALE_ORANGE: "--badpaper",
    BLACK: "--ink",
    GREY: "--soft",
    _LINES: "--line",
    _PAPER: "--card",
}
_STYLE: dict[str, Any] = {
    "font.size": 12,
    "text.color": BLACK,
    "text.parse_math": False,
    "axes.titlesize": 13,
    "axes.titlelocation": "left",
    "axes.labelcolor": BLACK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.edgecolor": GREY,
    "xtick.color": GREY,
    "xtick.labelcolor": BLACK,
    "ytick.color": GREY,
    "ytick.labelcolor": BLACK,
    "grid.color": _LINES,
    "lines.linewidth": 2.0,
    "lines.markersize": 6.5,
    "legend.frameon": False,
    "savefig.facecolor": _PAPER,
    "figure.constrained_layout.use": True,
    # Text stays text, and names within the file do not change from run to run.
    "svg.fonttype": "none",
    "svg.hashsalt": "perceptron_nlp",
}
_DOTS_PER_INCH, _COLORS = 110, 96
_ID = re.compile(r'(\bid="|url\(#|xlink:href="#)')
_USED = re.compile(r'(?:url\(|xlink:href=")#([^")]+)')
_MADE = re.compile(r' id="([^"]*)"')
_DRAWN = re.compile(r' (?:d|x|y|transform)="[^"]*"')
_LONG = re.compile(r"(?<!\d)\d+\.\d{2,}")
_FONT = re.compile(r" font-family: [^;]*;")


def plotting() -> Any:
    """Return matplotlib."""
    try:
        import matplotlib
    except ImportError:
        raise missing_extra("matplotlib", "report") from None
    return matplotlib


@contextmanager
def styled() -> Iterator[None]:
    """Set the style of all charts, whatever the user's own settings are, which come back."""
    library = plotting()
    with library.rc_context(), warnings.catch_warnings():
        # PNGs show boxes for scripts that the font lacks; SVGs leave the font to the reader.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        library.rcdefaults()
        library.rcParams.update(_STYLE)
        yield


def figure(width: float, height: float) -> Any:
    """Return an empty figure of that many inches; it needs no display."""
    plotting()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height))


def percent_axis(axis: Any, decimals: int | None = None) -> None:
    """Label an axis of fractions of 1 in percent; None: with the decimals that its range needs."""
    from matplotlib.ticker import PercentFormatter

    axis.set_major_formatter(PercentFormatter(xmax=1, decimals=decimals))


def png(drawn: Any) -> bytes:
    """Return a figure as a PNG of few colors, which makes it small."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    # matplotlib needs Pillow itself, so it is there.
    from PIL import Image

    canvas: Any = FigureCanvasAgg(drawn)
    drawn.set_dpi(_DOTS_PER_INCH)
    canvas.draw()
    image = Image.fromarray(np.asarray(canvas.buffer_rgba())[:, :, :3].copy())
    stream = io.BytesIO()
    image.quantize(_COLORS, dither=Image.Dither.NONE).save(stream, format="PNG", optimize=True)
    return stream.getvalue()


def svg(drawn: Any) -> bytes:
    """Return a figure as an SVG file."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    canvas: Any = FigureCanvasSVG(drawn)
    stream = io.StringIO()
    # No date, and nothing that tells of a version.
    canvas.print_svg(stream, metadata={"Date": None, "Creator": None})
    return stream.getvalue().encode()


def inlined(file: bytes, name: str, alt: str) -> str:
    """Return an SVG file as an element of a page, in the page's colors.

    `name` is put before all ids of the element, which are the page's own, too; `alt` is for readers
    who do not see the chart.
    """
    from markupsafe import escape

    text = file.decode()
    text = text[text.index("<svg") :]
    head, rest = text[: text.index(">")], text[text.index(">") :]
    # The page gives the size.
    head = re.sub(r' (width|height|version)="[^"]*"', "", head)
    text = f'{head} class="chart" role="img" aria-label="{escape(printable(alt))}"{rest}'
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.S)
    used = set(_USED.findall(text))
    text = _MADE.sub(lambda made: made[0] if made[1] in used else "", text)
    text = _ID.sub(rf"\g<1>{name}-", text)
    # The page gives the font, and tenths of a point do for a screen.
    text = _FONT.sub("", text)
    text = _DRAWN.sub(
        lambda drawn: _LONG.sub(lambda number: f"{float(number[0]):.1f}", drawn[0]), text
    )
    for color, variable in _OF_THE_PAGE.items():
        text = text.replace(color, f"var({variable})")
    return re.sub(r"\s*\n\s*", " ", text).strip()
