"""Lines of words: text already cut into tokens, a sentence a line, tokens parted by spaces or tabs.

No other white space parts tokens: a no-break space belongs to its token.  There are no
columns besides the words.  Written with labels, it is ``word/TAG`` text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from perceptron_nlp.formats import tagged
from perceptron_nlp.formats.lines import LineSource
from perceptron_nlp.formats.opening import Readable
from perceptron_nlp.formats.tokenlines import TokenLayout, TokenLines, built
from perceptron_nlp.text.sentence import Sentence


def read_text(path: Readable, *, errors: str = "strict") -> Iterator[Sentence]:
    """The sentences of tokenised text, a line each, one after the other.

    Parameters
    ----------
    path : a path (compressed or not), ``-`` for standard input, or a binary stream
    errors : ``strict``, or ``replace`` to read bytes that are not UTF-8 as U+FFFD

    Raises
    ------
    FileError : the file cannot be read
    FormatError : bytes that are not text; the message names the line
    """
    with LineSource(path, errors=errors) as source:
        yield from PlainReader(source)


class PlainReader:
    """Iterates over the sentences of a source; then ``tail`` is what follows the last."""

    def __init__(self, source: LineSource) -> None:
        self._path = source.name
        self._lines = TokenLines(source)

    @property
    def tail(self) -> str:
        """What follows the last sentence, once all have been read."""
        return self._lines.tail

    def __iter__(self) -> Iterator[Sentence]:
        for line, start, tokens, text in self._lines:
            layout = TokenLayout(text, start, None)
            yield Sentence.from_reader(tuple(tokens), {}, self._path, line, layout)


def rewrite(sentence: Sentence, columns: Mapping[str, Sequence[str]]) -> str:
    """The text of a sentence as it is, or as ``word/TAG`` with the labels of one column.

    Raises ArgumentError as :func:`perceptron_nlp.formats.tagged.rewrite` does.
    """
    if columns:
        return tagged.rewrite(sentence, columns)
    layout = sentence.layout
    if isinstance(layout, TokenLayout) and layout.separator is None:
        return layout.text
    return built(sentence, None).text
