"""Which columns a person asks for: one name, several in a list, or several parted by commas."""

from __future__ import annotations

from collections.abc import Sequence

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, FormatError, quote
from perceptron_nlp.tagger.train.sources import Source


def named_columns(column: object) -> tuple[str, ...]:
    """The names in an argument `column`; none where it is None.

    Raises
    ------
    ArgumentTypeError, ArgumentError : it is no name and no list of names, or one is empty
    """
    if column is None:
        return ()
    if isinstance(column, str):
        names: Sequence[object] = [name.strip() for name in column.split(",")]
    elif isinstance(column, Sequence) and not isinstance(column, bytes):
        names = column
    else:
        raise ArgumentTypeError(
            f"column: a str is needed, or a list of them, not {type(column).__name__}"
        )
    found = []
    for name in names:
        if not isinstance(name, str):
            raise ArgumentTypeError(f"column: a name is a str, not {type(name).__name__}")
        found.append(name)
    if not found or not all(found):
        raise ArgumentError("column: it is empty; give a column's name, or leave it out")
    return tuple(found)


def learnt_columns(names: Sequence[str], source: Source) -> tuple[str, ...]:
    """The columns to learn from a text: those named, or the one that it has for this.

    Raises
    ------
    FormatError : none is named, and the text has none
    ArgumentError : a column is named twice, or is one of those that are given
    """
    wanted = tuple(map(source.column_named, names))
    if not wanted:
        if source.default_column is None:
            raise FormatError(
                "read as plain text, which has no labels to learn from; if it is labelled, say its"
                " format",
                source.place,
            )
        wanted = (source.default_column,)
    for name in wanted:
        if name in ("id", "form"):
            raise ArgumentError(
                f"column: {name} is given, not learnt; name the column of the labels"
            )
        if wanted.count(name) > 1:
            raise ArgumentError(f"column: {quote(name)} is named twice")
    return wanted
