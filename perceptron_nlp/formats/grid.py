"""Lines of fields as one flat list: splitting a sentence at the speed of ``str.split``.

A sentence of n lines with w fields each becomes n·(w+1) cells, every last one of a line
being its line feed, so that column k is ``cells[k :: w + 1]`` and that slice can also be
replaced.  Fields hold no line feed, so the line feeds stand where they should only if
every line has exactly w fields.
"""

from __future__ import annotations


def split_grid(body: str, separator: str, width: int) -> list[str] | None:
    """The cells of ``body``, or None if it is not a clean grid of ``width`` columns.

    ``body`` is lines that each end in a line feed.  Clean: ``width`` fields in every line,
    cut at every ``separator``, none empty.
    """
    cells = body.replace("\n", f"{separator}\n{separator}").split(separator)
    cells.pop()
    lines = body.count("\n")
    stride = width + 1
    if len(cells) != lines * stride or cells[width::stride].count("\n") != lines or "" in cells:
        return None
    return cells


def join_grid(cells: list[str], separator: str) -> str:
    """The text that :func:`split_grid` took apart, with whatever was put in its cells."""
    return (separator.join(cells) + separator).replace(f"{separator}\n{separator}", "\n")
