"""Pieces of HTML: whatever comes from data goes through `safe`, and nothing else makes text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from perceptron_nlp._display import printable

_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})
# What could end the element that the JSON stands in.
_IN_SCRIPT = str.maketrans({"&": "\\u0026", "<": "\\u003c", ">": "\\u003e"})


def safe(text: str) -> str:
    """Text for HTML or SVG, also within double quotes: one line, nothing that is markup.

    Control characters, marks that turn the direction of writing, and lone surrogates are shown
    as escapes (``\\x07``).
    """
    return printable(text).translate(_ESCAPED)


def word(text: str) -> str:
    """A word or label, whose direction of writing does not touch what stands around it.

    Sets of features may be broken between them.
    """
    return f"<bdi>{safe(text).replace('|', '|<wbr>')}</bdi>"


def data_block(name: str, value: Any) -> str:
    """JSON that programs find in the page by its id; browsers do not run it."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return (
        f'<script type="application/json" id="{safe(name)}">{text.translate(_IN_SCRIPT)}</script>'
    )


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column names its rows; all cells but the caption are HTML already."""
    top = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    body = "\n".join(
        f'<tr><th scope="row">{row[0]}</th>'
        + "".join(f"<td>{cell}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="wide" role="region" aria-label="{safe(caption)}" tabindex="0"><table>'
        f"<caption><span>{safe(caption)}</span></caption>\n<thead><tr>{top}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def paragraph(text: str) -> str:
    """A side remark."""
    return f'<p class="soft">{safe(text)}</p>'


def bar(share: float) -> str:
    """A bar for a share of 1; the number stands beside it, so that readers aloud leave it out."""
    return f'<span class="track" aria-hidden="true"><i style="width:{100 * share:.1f}%"></i></span>'


def percent(share: float | None, decimals: int = 2) -> str:
    """A share of 1 in percent, or a dash."""
    return "–" if share is None else f"{100 * share:.{decimals}f} %"


def between(bounds: tuple[float, float] | None) -> str:
    """An interval of shares in percent, or a dash."""
    return "–" if bounds is None else f"{100 * bounds[0]:.2f} to {100 * bounds[1]:.2f} %"
