"""Two fields a line, parted by a tab: the form of a lexicon."""

from __future__ import annotations

from collections.abc import Iterator

from perceptron_nlp.errors import FormatError, quote
from perceptron_nlp.formats.lines import BOM, LineSource
from perceptron_nlp.formats.opening import Readable


def read_pairs(path: Readable) -> Iterator[tuple[int, str, str]]:
    """The lines of a file as (number of the line from 1, first field, second field).

    Lines without anything on them do not count.

    Parameters
    ----------
    path : a path (compressed or not), ``-`` for standard input, or a binary stream

    Raises
    ------
    FileError : the file cannot be read
    FormatError : a line has no tab or several, or nothing before or after it; with file:line
    """
    with LineSource(path) as source:
        for number, line in source.lines():
            text = line.removesuffix("\n").removesuffix("\r")
            if number == 1:
                text = text.removeprefix(BOM)
            if not text.strip():
                continue
            fields = text.split("\t")
            if len(fields) != 2:
                raise FormatError(
                    f"a form, a tab and a label are needed, not {quote(text)}", source.name, number
                )
            if not fields[0].strip() or not fields[1] or fields[1].strip() != fields[1]:
                raise FormatError(
                    f"the form or the label is empty or has spaces around it in {quote(text)}",
                    source.name,
                    number,
                )
            yield number, fields[0], fields[1]
