"""Pictures that look alike: colours, sizes, and a figure turned into the bytes of a PNG."""

from __future__ import annotations

import importlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from perceptron_nlp.errors import MissingExtraError

# Okabe and Ito's colours, which colour-blind readers can tell apart; lines also differ in
# style and markers, so that no picture needs its colours.
BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, BLACK, GREY = (
    "#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#222222", "#767676",
)  # fmt: skip

OUTPUT_STYLES: dict[str, dict[str, Any]] = {
    "last": {"color": VERMILION, "marker": "s", "linestyle": "--"},
    "voted": {"color": GREEN, "marker": "^", "linestyle": "-."},
    "averaged": {"color": BLUE, "marker": "o", "linestyle": "-"},
}

_STYLE: dict[str, Any] = {
    "font.size": 12,
    "axes.titlesize": 13,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.edgecolor": GREY,
    "grid.color": "#E4E4E4",
    "lines.linewidth": 2.0,
    "lines.markersize": 6.5,
    "legend.frameon": False,
    "savefig.facecolor": "white",
    "figure.constrained_layout.use": True,
}

_DOTS_PER_INCH, _COLOURS = 110, 96


def plotting() -> Any:
    """The plotting package.

    Raises
    ------
    MissingExtraError
        when it is not installed
    """
    try:
        return importlib.import_module("matplotlib")
    except ImportError:
        raise MissingExtraError(
            'pictures need matplotlib: pip install "perceptron-nlp[plot]"'
        ) from None


@contextmanager
def styled() -> Iterator[None]:
    """The style of all pictures, whatever the user's own settings are, which come back."""
    guest = plotting()
    with guest.rc_context():
        guest.rcdefaults()
        guest.rcParams.update(_STYLE)
        yield


def figure(width: float, height: float) -> Any:
    """An empty figure of that many inches; it needs no display."""
    plotting()
    return importlib.import_module("matplotlib.figure").Figure(figsize=(width, height))


def png(drawn: Any) -> bytes:
    """The figure as a PNG of few colours, which makes it small."""
    canvas = importlib.import_module("matplotlib.backends.backend_agg").FigureCanvasAgg(drawn)
    drawn.set_dpi(_DOTS_PER_INCH)
    canvas.draw()
    # The plotting package needs Pillow itself, so it is there.
    pixels = np.asarray(canvas.buffer_rgba())[:, :, :3]
    image = importlib.import_module("PIL.Image").fromarray(pixels.copy())
    stream = io.BytesIO()
    image.quantize(_COLOURS, dither=0).save(stream, format="PNG", optimize=True)
    return stream.getvalue()


def percent(axis: Any, decimals: int = 1) -> None:
    """Label an axis of shares in percent."""
    ticker = importlib.import_module("matplotlib.ticker")
    axis.set_major_formatter(ticker.PercentFormatter(xmax=1, decimals=decimals))
