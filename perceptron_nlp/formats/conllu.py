"""CoNLL-U and CoNLL-U Plus, read sentence by sentence and written back unchanged.

A sentence is lines of ten tab-separated fields, ended by an empty line.  Lines that
start with ``#`` before its first word are comments.  Words are numbered from 1; ranges
(``3-4``) and empty nodes (``8.1``, ``0.1``) stand among them, are no words, and are only
carried along.  ``_`` is an ordinary FORM; FORM, LEMMA and MISC may hold spaces.  If the
first line is ``# global.columns = ...`` it names the columns (CoNLL-U Plus).

The columns of a sentence besides its words (``form``) go by their lower-case names:
lemma, upos, xpos, feats, head, deprel, deps, misc.  :meth:`Sentence.column` also takes
any case and the number of a column, from 1.

What stands between sentences (empty lines, comments without words) belongs to the
sentence after it, so the texts of all sentences and the tail are the file again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

from perceptron_nlp.errors import ArgumentError, FormatError, quote
from perceptron_nlp.formats.conllu_rules import (
    CHECKED_COLUMNS,
    COLUMNS,
    HeadBeyondError,
    KnownValues,
    Place,
    check_deps,
    check_heads,
    check_ranges_and_empties,
    refuse_grid,
    starts_in_the_middle,
    word_rows,
    wrong_value,
)
from perceptron_nlp.formats.grid import join_grid, split_grid
from perceptron_nlp.formats.lines import BOM, LineSource
from perceptron_nlp.formats.opening import Readable
from perceptron_nlp.formats.replace import replace_file
from perceptron_nlp.text.sentence import Sentence

_GLOBAL_COLUMNS = "# global.columns"
_EAGER = ("upos", "xpos", "feats", "deprel")
_IDS = [str(number) for number in range(1, 257)]


class ConlluLayout(Mapping[str, tuple[str, ...]]):
    """The text of a sentence, and its columns, split again when one is asked for.

    ``text[start:end]`` is the lines of words, ranges and empty nodes; what is before
    are comments and what stood between the sentences, what is after is the empty line.
    """

    __slots__ = ("_eager", "end", "names", "rows", "start", "text")

    def __init__(
        self,
        text: str,
        span: tuple[int, int],
        names: tuple[str, ...],
        rows: Sequence[int],
        eager: dict[str, tuple[str, ...]],
    ) -> None:
        self.text = text
        self.start, self.end = span
        self.names = names
        self.rows = rows
        self._eager = eager

    def __getitem__(self, name: str) -> tuple[str, ...]:
        if name in self._eager:
            return self._eager[name]
        if name not in self.names or name in ("id", "form"):
            raise KeyError(name)
        stride = len(self.names) + 1
        return _pick(self.cells()[self.names.index(name) :: stride], self.rows)

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.names if name not in ("id", "form"))

    def __len__(self) -> int:
        return len(self.names) - 2

    def alias(self, name: str) -> str | None:
        """The column of a name in any case, or of a number from 1."""
        folded = name.lower()
        if name.isascii() and name.isdigit() and 0 < int(name[:6]) <= len(self.names):
            folded = self.names[int(name) - 1]
        return folded if folded in self.names and folded != "id" else None

    def cells(self) -> list[str]:
        """The fields of all lines, as `split_grid` gives them; line breaks are line feeds."""
        cells = split_grid(_clean(self.text[self.start : self.end])[0], "\t", len(self.names))
        return [] if cells is None else cells


def read_conllu(path: Readable, *, errors: str = "strict") -> Iterator[Sentence]:
    """The sentences of a CoNLL-U file, one after the other; each has at least one word.

    Parameters
    ----------
    path : a path (gzip, bzip2, xz and, from Python 3.14 on, zstd are unpacked), ``-`` for
        standard input, or a binary stream
    errors : ``strict``, or ``replace`` to read bytes that are not UTF-8 as U+FFFD

    Raises
    ------
    FileError : the file cannot be read
    FormatError : a line breaks the format; the message names it
    """
    with LineSource(path, errors=errors) as source:
        yield from ConlluReader(source)


class ConlluReader:
    """Iterates over the sentences of a source; then ``tail`` is what follows the last."""

    def __init__(self, source: LineSource) -> None:
        self.tail = ""
        self.columns: tuple[str, ...] = COLUMNS
        self._source = source
        self._known = {name: KnownValues(name) for name in CHECKED_COLUMNS}
        self._forms = KnownValues("form")

    def __iter__(self) -> Iterator[Sentence]:
        before = ""
        blocks = self._source.blocks()
        for first_line, block in blocks:
            text = before + block
            start = self._start_of_words(block, first_line)
            if start == len(block):
                before = text
                continue
            try:
                sentence = self._sentence(text, len(before) + start, first_line, start)
            except HeadBeyondError as error:
                self._blame_what_cuts_the_sentence(blocks)
                raise FormatError(error.message, error.path, error.line) from None
            if sentence is None:
                before = text
                continue
            before = ""
            yield sentence
        self.tail = before

    def _start_of_words(self, block: str, first_line: int) -> int:
        start = 1 if first_line == 1 and block.startswith(BOM) else 0
        if first_line == 1:
            self.columns = columns_named_in(block[start:], self._source.name)
        while block.startswith(("#", "\n", "\r\n"), start):
            end = block.find("\n", start)
            if end < 0:
                return len(block)
            start = end + 1
        return start

    def _sentence(self, text: str, start: int, first_line: int, shift: int) -> Sentence | None:
        """The sentence whose first word's line is at ``start``; None if it has no words."""
        line = first_line + text.count("\n", start - shift, start)
        place = Place(self._source.name, line, self.columns)
        body, end = _clean(text[start:])
        end += start
        width = len(self.columns)
        cells = split_grid(body, "\t", width)
        if cells is None:
            refuse_grid(body[:-1].split("\n"), place)
        stride = width + 1
        ids = cells[self.columns.index("id") :: stride]
        rows: Sequence[int] = range(len(ids))
        if ids != _plain_ids(len(ids)):
            rows = word_rows(ids, place)
            check_ranges_and_empties(cells, ids, rows, place)
        eager = self._check_values(cells, ids, rows, place)
        if not rows:
            return None
        forms = cells[self.columns.index("form") :: stride]
        words = _pick(self._forms.take(forms, place), rows)
        lines = (
            range(line, line + len(ids))
            if len(rows) == len(ids)
            else tuple(line + row for row in rows)
        )
        layout = ConlluLayout(text, (start, end), self.columns, rows, eager)
        return Sentence.from_reader(words, layout, self._source.name, lines, layout)

    def _check_values(
        self, cells: list[str], ids: list[str], rows: Sequence[int], place: Place
    ) -> dict[str, tuple[str, ...]]:
        stride = len(self.columns) + 1
        eager = {}
        for number, name in enumerate(self.columns):
            values = cells[number::stride] if name in self._known or name == "head" else []
            if name in self._known:
                values = self._known[name].take(values, place)
                if name in _EAGER:
                    eager[name] = _pick(values, rows)
            if name == "head":
                check_heads(_pick(values, rows), ids, place, rows)
            if name == "deps":
                check_deps(values, ids, place)
        return eager

    def _blame_what_cuts_the_sentence(self, blocks: Iterator[tuple[int, str]]) -> None:
        """After a head beyond the sentence: raises for the next one if it starts in its middle."""
        for first_line, block in blocks:
            start = self._start_of_words(block, first_line)
            if start == len(block):
                continue
            name = block[start:].partition("\t")[0]
            if start == 0 and starts_in_the_middle(name):
                word_rows([name], Place(self._source.name, first_line, self.columns))
            return


def columns_named_in(head: str, path: str) -> tuple[str, ...]:
    """The columns, in lower case, of a text that begins with ``head``: ten, or as it says."""
    if not head.startswith(_GLOBAL_COLUMNS):
        return COLUMNS
    names = tuple(head.partition("\n")[0].partition("=")[2].lower().split())
    if "id" not in names or "form" not in names:
        raise FormatError("global.columns must name at least ID and FORM", path, 1)
    if len(set(names)) < len(names):
        raise FormatError("global.columns names a column twice", path, 1)
    return names


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
    replace_file(path, (text.encode("utf-8") for text in separated(sentences)))


def separated(sentences: Iterable[Sentence]) -> Iterator[str]:
    """The texts of sentences, made to follow each other even if they are of several files."""
    previous = ""
    for sentence in sentences:
        text = rewrite(sentence, {})
        if previous:
            text = text.removeprefix(BOM)
            crlf = "\r\n" if "\r\n" in previous else "\n"
            if not previous.endswith("\n"):
                yield crlf
            if not previous.endswith(("\n\n", "\n\r\n")):
                yield crlf
        yield text
        previous = text


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


def _clean(text: str) -> tuple[str, int]:
    """The lines before the empty line, each ended by a line feed alone, and their length in
    ``text``."""
    end = len(text)
    if text.endswith("\n\n"):
        end -= 1
    elif text.endswith("\n\r\n"):
        end -= 2
    body = text[:end]
    if "\r\n" in body:
        body = body.replace("\r\n", "\n")
    return body if body.endswith("\n") else body + "\n", end


def _with_breaks_of(old: str, new: str) -> str:
    """``new`` with the line breaks of ``old``, which has as many lines."""
    if "\r\n" not in old:
        return new if old.endswith("\n") else new[:-1]
    breaks = ["\r\n" if line.endswith("\r") else "\n" for line in old.split("\n")]
    lines = new[:-1].split("\n")
    if not old.endswith("\n"):
        breaks[len(lines) - 1] = ""
    return "".join(line + end for line, end in zip(lines, breaks, strict=False))


def _plain_ids(length: int) -> list[str]:
    if length <= len(_IDS):
        return _IDS[:length]
    return [str(number) for number in range(1, length + 1)]


def _pick(values: Sequence[str], rows: Sequence[int]) -> tuple[str, ...]:
    if len(rows) == len(values):
        return tuple(values)
    if len(rows) < 2:
        return tuple(values[row] for row in rows)
    picked: tuple[str, ...] = itemgetter(*rows)(values)
    return picked


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
    fields: list[Sequence[str]] = [_plain_ids(length), sentence.words]
    _check_labels("form", sentence.words, length)
    for name in COLUMNS[2:]:
        values = sentence.columns.get(name, ("_",) * length)
        _check_labels(name, values, length)
        fields.append(values)
    body = "".join("\t".join(row) + "\n" for row in zip(*fields, strict=True))
    return ConlluLayout(body + "\n", (0, len(body)), COLUMNS, range(length), {})
