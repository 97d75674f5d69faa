"""White space between the words of running text: empty lines, line breaks, long gaps, and lines."""

from __future__ import annotations

import re

EMPTY_LINE = re.compile(r"\n[^\S\n]*\n|\r[^\S\r\n]*\r|[\f\u2029]")
"""White space that ends a paragraph."""
LINE_BREAK = re.compile(r"[\n\r\u2028\u0085\v]")
LONG_GAP = 1000
"""Characters of white space from which on a stretch of it is shortened."""
_LONG_GAP = re.compile(rf"\s{{{LONG_GAP},}}")


class LineCount:
    """Lines of places in a text, in ascending order, while its front is forgotten."""

    def __init__(self) -> None:
        self._line, self._at = 1, 0
        self._left_out: list[tuple[int, int]] = []

    def leave_out(self, place: int, breaks: int) -> None:
        """Count line breaks that stood before a place and are not in the text."""
        self._left_out.append((place, breaks))

    def of(self, text: str, place: int) -> int:
        """Return the line of a place that is not before the last one asked for, from 1."""
        self._line += text.count("\n", self._at, place)
        while self._left_out and self._left_out[0][0] <= place:
            self._line += self._left_out.pop(0)[1]
        self._at = place
        return self._line

    def forget(self, text: str, gone: int) -> None:
        """Leave out the first `gone` characters of the text; places are counted behind them."""
        self.of(text, max(gone, self._at))
        self._at -= gone
        self._left_out = [(place - gone, breaks) for place, breaks in self._left_out]


def with_gaps_shortened(text: str, piece: str, lines: LineCount) -> str:
    """Return the text with a piece behind it, in which no stretch of white space is long."""
    parts, begin, length = [text], 0, len(text)
    for gap in _LONG_GAP.finditer(piece):
        short = _shorter(gap)
        parts += (piece[begin : gap.start()], short)
        length += gap.start() - begin + len(short)
        lines.leave_out(length, gap.group().count("\n") - short.count("\n"))
        begin = gap.end()
    return "".join([*parts, piece[begin:]])


def _shorter(gap: re.Match[str]) -> str:
    """Return white space that separates tokens and sentences as a long stretch of it does."""
    if EMPTY_LINE.search(gap.group()):
        return "\n\n"
    return "\n" if LINE_BREAK.search(gap.group()) else " "


def is_glued(text: str, place: int) -> bool:
    """Tell if text goes on at a place without white space."""
    return place < len(text) and not text[place].isspace()
