"""Sentences as CoNLL-U: written back with some columns replaced, or built from words."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from perceptron_nlp.errors import ArgumentError, quote
from perceptron_nlp.formats.conllu_layout import ConlluLayout, plain_ids
from perceptron_nlp.formats.conllu_rules import COLUMNS, wrong_value
from perceptron_nlp.formats.grid import join_grid
from perceptron_nlp.formats.joining import joined_blocks
from perceptron_nlp.formats.packedtext import packed
from perceptron_nlp.formats.replace import replace_file
from perceptron_nlp.text.sentence import Sentence


def rewrite(sentence: Sentence, columns: Mapping[str, Sequence[str]]) -> str:
    """The text of a sentence with some of its columns replaced.

    A sentence read from CoNLL-U is as it was in all other bytes: comments, ranges, empty
    nodes, other columns, line breaks.  A sentence from elsewhere becomes ten columns,
    with those of its columns that CoNLL-U has, and an empty line after it.

    Parameters
    ----------
    columns : name (as :meth:`Sentence.column` takes it) to one value for each word

    Raises ArgumentError for an unknown column, values that are not as many as words, and
    a value that CoNLL-U cannot hold there.
    """
    layout = sentence.layout
    if not isinstance(layout, ConlluLayout):
        layout = _built(sentence)
    if not columns:
        return layout.text
    cells = layout.cells()
    stride = len(layout.names) + 1
    for name, values in columns.items():
        actual = layout.alias(name)
        if actual is None:
            there = ", ".join(layout.names[1:])
            raise ArgumentError(f"columns: no column {quote(name)}; there are: {there}")
        _check_labels(actual, values, len(sentence))
        number = layout.names.index(actual)
        if len(layout.rows) * stride == len(cells):
            cells[number::stride] = values
        else:
            for row, value in zip(layout.rows, values, strict=True):
                cells[number + row * stride] = value
    text = layout.text
    return (
        text[: layout.start]
        + _with_breaks_of(text[layout.start : layout.end], join_grid(cells, "\t"))
        + text[layout.end :]
    )


def write_conllu(sentences: Iterable[Sentence], path: str | os.PathLike[str]) -> None:
    """Writes sentences to a file, which is replaced whole or not at all.

    Sentences read from CoNLL-U are written as they were, others in ten columns.

    Raises FileError if the place cannot be written, ArgumentError for a sentence that
    CoNLL-U cannot hold.
    """
    texts = joined_blocks(rewrite(sentence, {}) for sentence in sentences)
    replace_file(path, packed(path, (text.encode("utf-8") for text in texts)))


def with_misc(value: str, key: str, new: str) -> str:
    """A MISC field with the attribute ``key`` set to ``new``; the others stay in place.

    >>> with_misc("SpaceAfter=No", "Unknown", "Yes")
    'SpaceAfter=No|Unknown=Yes'

    Raises ArgumentError for a key or value that MISC cannot hold.
    """
    if not key or not new or any(mark in key + new for mark in "|\t\n") or "=" in key:
        raise ArgumentError(f"key, new: {quote(key + '=' + new)} cannot be an attribute of MISC")
    pairs = [] if value == "_" else value.split("|")
    kept = [pair for pair in pairs if pair.partition("=")[0] != key]
    place = next((at for at, pair in enumerate(pairs) if pair.partition("=")[0] == key), len(kept))
    kept.insert(min(place, len(kept)), f"{key}={new}")
    return "|".join(kept)


def without_misc(value: str, key: str) -> str:
    """A MISC field without the attribute ``key``; the others stay in place.

    >>> without_misc("SpaceAfter=No|Unknown=Yes", "Unknown")
    'SpaceAfter=No'
    """
    return "|".join(pair for pair in value.split("|") if pair.partition("=")[0] != key) or "_"


def _with_breaks_of(old: str, new: str) -> str:
    """``new`` with the line breaks of ``old``, which has as many lines."""
    if "\r\n" not in old:
        return new if old.endswith("\n") else new[:-1]
    breaks = ["\r\n" if line.endswith("\r") else "\n" for line in old.split("\n")]
    lines = new[:-1].split("\n")
    if not old.endswith("\n"):
        breaks[len(lines) - 1] = ""
    return "".join(line + end for line, end in zip(lines, breaks, strict=False))


def _check_labels(name: str, values: Sequence[str], length: int) -> None:
    if isinstance(values, str) or len(values) != length:
        raise ArgumentError(f"columns[{quote(name)}]: {len(values)} values for {length} words")
    for value in set(values):
        wrong = wrong_value(name, value)
        if wrong is not None:
            raise ArgumentError(f"columns[{quote(name)}]: {quote(value)} {wrong}")


def _built(sentence: Sentence) -> ConlluLayout:
    if not sentence.words:
        raise ArgumentError("sentence: CoNLL-U has no sentences without words")
    length = len(sentence)
    fields: list[Sequence[str]] = [plain_ids(length), sentence.words]
    _check_labels("form", sentence.words, length)
    for name in COLUMNS[2:]:
        values = sentence.columns.get(name, ("_",) * length)
        _check_labels(name, values, length)
        fields.append(values)
    body = "".join("\t".join(row) + "\n" for row in zip(*fields, strict=True))
    return ConlluLayout(body + "\n", (0, len(body)), COLUMNS, range(length), {})
