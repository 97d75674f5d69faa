"""The texts of sentences one after the other, even if they were read from several files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from perceptron_nlp.formats.lines import BOM


def joined_lines(texts: Iterable[str]) -> Iterator[str]:
    """The texts, with a line break after each that lacks one, unless it is the last."""
    yield from _joined(texts, empty_line=False)


def joined_blocks(texts: Iterable[str]) -> Iterator[str]:
    """The texts, with an empty line after each that lacks one, unless it is the last."""
    yield from _joined(texts, empty_line=True)


def _joined(texts: Iterable[str], *, empty_line: bool) -> Iterator[str]:
    previous = ""
    for text in texts:
        if previous:
            # A byte order mark may only begin a file.
            text = text.removeprefix(BOM)
            line_break = "\r\n" if "\r\n" in previous else "\n"
            if not previous.endswith("\n"):
                yield line_break
            if empty_line and not previous.endswith(("\n\n", "\n\r\n")):
                yield line_break
        yield text
        previous = text
