"""CoNLL-U and CoNLL-U Plus, read sentence by sentence and written back unchanged.

A sentence is lines of ten tab-separated fields, ended by an empty line. Lines that start with ``#``
before its first word are comments. Words are numbered from 1; ranges (``3-4``) and empty nodes
(``8.1``, ``0.1``) stand among them, are no words, and are only carried along. ``_`` is an ordinary
FORM; FORM, LEMMA and MISC may hold spaces. If the first line is ``# global.columns = ...`` it names
the columns (CoNLL-U Plus).

The columns of a sentence in addition to its words (``form``) go by their lower-case names: lemma,
upos, xpos, feats, head, deprel, deps, misc. :meth:`Sentence.column` also takes any case and the
number of a column, from 1.

What stands between sentences (empty lines, comments without words) belongs to the sentence after
it, so the texts of all sentences and the tail are the file again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from perceptron_nlp._core.conllu.conlluscan import ConlluScanner
from perceptron_nlp.errors import ArgumentError, FormatError, quote
from perceptron_nlp.formats.lines import LineSource, Scanned
from perceptron_nlp.formats.opening import BOM, Readable
from perceptron_nlp.formats.reading import (
    Format,
    Reader,
    check_length,
    lines_of,
    with_columns_put,
    write_sentences,
)
from perceptron_nlp.text.layout import (
    CONLLU_COLUMNS,
    Layout,
    TokenSpan,
    pick,
    split_grid,
    without_empty_line,
    wrong_conllu_value,
)
from perceptron_nlp.text.sentence import Sentence

if TYPE_CHECKING:
    from perceptron_nlp._core.conllu.conlluscan import _ScannedSentence

_EAGER = ("upos", "xpos")
_MOST_SHARED = 1 << 16
_GLOBAL_COLUMNS = "# global.columns"
# Words that a comment would swallow.
_WORD_AFTER_RETURN = re.compile(r"\r[0-9]+(?:[-.][0-9]+)?\t")


_IDS = [str(number) for number in range(1, 257)]
_SENT_ID = re.compile(r"^# ?sent_id *=(.*)$", re.MULTILINE)
_NEW_DOCUMENT = re.compile(r"^(?:# ?newdoc\b|-DOCSTART-(?:\s|$))", re.MULTILINE)
_NEW_PARAGRAPH = re.compile(r"^# ?new(?:par|doc)\b", re.MULTILINE)


def read_conllu(path: Readable, *, errors: str = "strict") -> Iterator[Sentence]:
    """Yield the sentences of a CoNLL-U file; each has at least one word.

    Parameters
    ----------
    path : a path (gzip, bzip2, xz and, from Python 3.14 on, zstd are unpacked), ``-`` for standard
        input, or a binary stream
    errors : ``strict``, or ``replace`` to read bytes that are not UTF-8 as U+FFFD

    Raises
    ------
    FileError : the file cannot be read
    FormatError : a line breaks the format; the message names it
    """
    with LineSource(path, errors=errors) as source:
        yield from ConlluReader(source)


class ConlluReader(Reader):
    """A Reader of CoNLL-U.

    The core takes the usual sentences, many at a time. With ``scanned=False`` all are read here,
    line by line; what comes of it is the same.
    """

    def __init__(self, source: LineSource, *, scanned: bool = True) -> None:
        super().__init__(source)
        self._scanner = ConlluScanner() if scanned else None
        self._known: dict[str, str] = {}
        self._columns: tuple[str, ...] = CONLLU_COLUMNS

    def _usual_sentences(self) -> Iterator[Sentence]:
        """Yield the sentences up to the next that the core does not accept."""
        if self._scanner is None or self._columns != CONLLU_COLUMNS:
            return
        name = self._source.name
        while taken := self._source.scan(self._take):
            for text, start, line, height, some, words, upos, xpos in taken:
                rows: Sequence[int] = range(height)
                lines: Sequence[int] = range(line, line + height)
                if some is not None:
                    rows = some
                    lines = [line + row for row in some]
                span, eager = (start, len(text) - 1), {"upos": upos, "xpos": xpos}
                layout = Layout("conllu", text, span, CONLLU_COLUMNS, rows=rows, eager=eager)
                yield Sentence.from_reader(words, layout, name, lines, layout)

    def _take(self, text: bytearray, line: int) -> Scanned[_ScannedSentence]:
        if self._scanner is None or (line == 1 and text.startswith(_GLOBAL_COLUMNS.encode())):
            return [], 0, 0, False
        return self._scanner.take(text, line)

    def _start_of_words(self, block: str, first_line: int) -> int:
        start = 0
        if first_line == 1:
            start = 1 if block.startswith(BOM) else 0
            self._columns = columns_named_in(block[start:], self._source.name)
        while block.startswith(("#", "\n", "\r\n"), start):
            end = block.find("\n", start) + 1 or len(block)
            if _WORD_AFTER_RETURN.search(block, start, end):
                raise FormatError(
                    "a carriage return alone ends a line; convert it to a line feed",
                    self._source.name,
                    first_line + block.count("\n", 0, start),
                )
            start = end
        return start

    def _sentence(self, text: str, start: int, line: int) -> Sentence | None:
        """Return the sentence whose lines begin at ``start``; None if it has no words."""
        # Here and below, since the core reads what is usual.
        from perceptron_nlp.formats.conllu_rules import BeyondSentenceError

        try:
            return self._checked(text, start, line)
        except BeyondSentenceError as error:
            self._blame_what_cuts_the_sentence()
            raise FormatError(error.message, error.path, error.line) from None

    def _checked(self, text: str, start: int, line: int) -> Sentence | None:
        from perceptron_nlp.formats.conllu_rules import Place, check_values, refuse_grid, word_rows

        place = Place(self._source.name, line, self._columns)
        body, end = without_empty_line(text, start)
        cells = split_grid(body, "\t", len(self._columns))
        if cells is None:
            refuse_grid(body[:-1].split("\n"), place)
        stride = len(self._columns) + 1
        column = {name: cells[at::stride] for at, name in enumerate(self._columns)}
        ids = column["id"]
        rows: Sequence[int] = range(len(ids))
        lines: Sequence[int] = range(line, line + len(ids))
        if ids != plain_ids(len(ids)):
            rows = word_rows(ids, place)
            lines = [line + row for row in rows]
        check_values(column, rows, place)
        if not rows:
            return None
        words = self._shared(pick(column["form"], rows))
        eager = {name: self._shared(pick(column[name], rows)) for name in _EAGER if name in column}
        layout = Layout("conllu", text, (start, end), self._columns, rows=rows, eager=eager)
        return Sentence.from_reader(words, layout, self._source.name, lines, layout)

    def _shared(self, values: Sequence[str]) -> tuple[str, ...]:
        """Return the values, equal ones as one object, so that a corpus in memory stays small."""
        if len(self._known) > _MOST_SHARED:
            self._known.clear()
        return tuple(map(self._known.setdefault, values, values))

    def _blame_what_cuts_the_sentence(self) -> None:
        """After a head beyond its sentence: raise for what follows if it is the missing rest."""
        from perceptron_nlp.formats.conllu_rules import Place, starts_in_the_middle, word_rows

        for first_line, block in self._pieces:
            start = self._start_of_words(block, first_line)
            if start == len(block):
                continue
            name = block[start:].partition("\t")[0]
            if start == 0 and starts_in_the_middle(name):
                word_rows([name], Place(self._source.name, first_line, self._columns))
            return


def columns_named_in(head: str, path: str) -> tuple[str, ...]:
    """Return the columns, in lower case, of a text that begins so: ten, or as it says."""
    if not head.startswith(_GLOBAL_COLUMNS):
        return CONLLU_COLUMNS
    names = tuple(head.partition("\n")[0].partition("=")[2].lower().split())
    if "id" not in names or "form" not in names:
        raise FormatError("global.columns must name at least ID and FORM", path, 1)
    if len(set(names)) < len(names):
        raise FormatError("global.columns names a column twice", path, 1)
    return names


def write_conllu(sentences: Iterable[Sentence], path: str | os.PathLike[str]) -> None:
    """Write sentences to a file, which is replaced whole or not at all.

    Sentences read from CoNLL-U are written as they were, others in ten columns.

    Raises FileError if the file cannot be written, ArgumentError for a sentence that CoNLL-U cannot
    hold.
    """
    write_sentences(sentences, path, lambda one: rewrite_conllu(one, {}), empty_line=True)


def rewrite_conllu(sentence: Sentence, columns: Mapping[str, Sequence[str]]) -> str:
    """Return the text of a sentence with columns (name to one value for each word) replaced.

    A sentence read from CoNLL-U is as it was in all other bytes: comments, ranges, empty nodes,
    other columns, line breaks. A sentence from elsewhere becomes ten columns, with those of its
    columns that CoNLL-U has, and an empty line after it.

    Raises ArgumentError for an unknown column, values that are not as many as words, and a value
    that CoNLL-U cannot hold there.
    """
    layout = sentence.layout
    if layout is None or layout.format != "conllu":
        layout = _built(sentence)
    if not columns:
        return layout.text
    numbered = []
    for name, values in columns.items():
        actual = layout.alias(name)
        if actual is None:
            there = ", ".join(layout.names[1:])
            raise ArgumentError(f"columns: no column {quote(name)}; there are: {there}")
        _check_labels(actual, values, len(sentence))
        numbered.append((layout.names.index(actual), values))
    return with_columns_put(layout, numbered)


def plain_ids(length: int) -> list[str]:
    """Return the IDs of a sentence of so many words and nothing else."""
    if length <= len(_IDS):
        return _IDS[:length]
    return [str(number) for number in range(1, length + 1)]


def _check_labels(name: str, values: Sequence[str], length: int) -> None:
    check_length(name, values, length)
    for value in set(values):
        wrong = wrong_conllu_value(name, value)
        if wrong is not None:
            raise ArgumentError(f"columns[{quote(name)}]: {quote(value)} {wrong}")


def _built(sentence: Sentence) -> Layout:
    if not sentence.words:
        raise ArgumentError("sentence: CoNLL-U has no sentences without words")
    length = len(sentence)
    held = dict.fromkeys(CONLLU_COLUMNS, ("_",) * length)
    held.update(sentence.columns, form=sentence.words)
    for name in CONLLU_COLUMNS[1:]:
        _check_labels(name, held[name], length)
    held["id"] = tuple(plain_ids(length))
    return lines_of("conllu", held, CONLLU_COLUMNS)


def sentence_id(sentence: Sentence) -> str | None:
    """Return ``# sent_id`` of a sentence of CoNLL-U; None if there is none."""
    found = _SENT_ID.search(_before_words(sentence))
    return found[1].strip() if found else None


def opens_document(sentence: Sentence) -> bool:
    """Return True if ``# newdoc`` or ``-DOCSTART-`` stands before the sentence in its file."""
    return _NEW_DOCUMENT.search(_before_words(sentence)) is not None


def opens_paragraph(sentence: Sentence) -> bool:
    """Return True if ``# newpar`` or ``# newdoc`` stands before the sentence."""
    return _NEW_PARAGRAPH.search(_before_words(sentence)) is not None


def _before_words(sentence: Sentence) -> str:
    """Return comments, marks and empty lines between the sentence before and this one."""
    layout = sentence.layout
    return "" if layout is None else layout.text[: layout.start]


def surface(sentence: Sentence) -> tuple[str, Sequence[TokenSpan], bool]:
    """Return the text of a sentence, its tokens in it, and whether the next stands right behind it.

    Tokens of CoNLL-U are words and ranges (French *du*), with a space between them unless MISC says
    ``SpaceAfter=No``. Words that are not from text have spaces between them.
    """
    layout = sentence.layout
    if layout is not None and layout.format == "text":
        return layout.text, layout.tokens, layout.is_glued
    parts: list[tuple[str, int, str]] = [(word, 1, "_") for word in sentence.words]
    if layout is not None and layout.format == "conllu" and "misc" in layout.names:
        cells, stride = layout.cells(), len(layout.names) + 1
        columns = [cells[layout.names.index(name) :: stride] for name in ("id", "form", "misc")]
        parts, covered = [], 0
        for number, form, misc in zip(*columns, strict=True):
            first, _, last = number.partition("-")
            if "." not in first and int(first) > covered:
                covered = int(last or first)
                parts.append((form, covered - int(first) + 1, misc))
    pieces: list[str] = []
    tokens: list[TokenSpan] = []
    place = word = 0
    for form, n_words, misc in parts:
        tokens.append((place, place + len(form), sentence.words[word : word + n_words]))
        pieces += (form, "" if "SpaceAfter=No" in misc.split("|") else " ")
        place += len(form) + len(pieces[-1])
        word += n_words
    return "".join(pieces[:-1]), tokens, pieces[-1:] == [""]


Surface: TypeAlias = tuple[bool, str, Sequence[TokenSpan], bool]
"""Does a sentence open a paragraph; and what ``surface`` returns."""


def surfaces(sentences: Iterable[Sentence]) -> list[Surface]:
    """Return sentences as they stand in a text."""
    return [(opens_paragraph(sentence), *surface(sentence)) for sentence in sentences]


def running_text(sentences: Iterable[Sentence]) -> tuple[str, list[tuple[int, int]], list[bool]]:
    """Return sentences as one text; see `one_text`."""
    return one_text(surfaces(sentences))


def one_text(sentences: Iterable[Surface]) -> tuple[str, list[tuple[int, int]], list[bool]]:
    """Return sentences as one text: an empty line before each paragraph, else a space or nothing.

    Returns
    -------
    the text, begin and end of each of its tokens, and whether a sentence ends with it
    """
    pieces: list[str] = []
    tokens: list[tuple[int, int]] = []
    ends: list[bool] = []
    place, gap = 0, ""
    for is_first, text, own, is_glued in sentences:
        gap = "\n\n" if pieces and is_first else gap
        pieces += (gap, text)
        place += len(gap)
        tokens += [(place + start, place + end) for start, end, _ in own]
        ends += [False] * (len(own) - 1) + [True]
        place += len(text)
        gap = "" if is_glued else " "
    return "".join(pieces), tokens, ends


def with_misc(value: str, key: str, new: str) -> str:
    """Return a MISC field with the attribute ``key`` set to ``new``; the others stay in place.

    >>> with_misc("SpaceAfter=No", "Unknown", "Yes")
    'SpaceAfter=No|Unknown=Yes'

    Raises ArgumentError for a key or value that MISC cannot hold.
    """
    if not key or not new or any(mark in key + new for mark in "|\t\n") or "=" in key:
        raise ArgumentError(f"key, new: {quote(key + '=' + new)} cannot be an attribute of MISC")
    names = [] if value == "_" else [pair.partition("=")[0] for pair in value.split("|")]
    pairs = [pair for pair in value.split("|") if names and pair.partition("=")[0] != key]
    pairs.insert(names.index(key) if key in names else len(pairs), f"{key}={new}")
    return "|".join(pairs)


def without_misc(value: str, key: str) -> str:
    """Return a MISC field without the attribute ``key``; the others stay in place.

    >>> without_misc("SpaceAfter=No|Unknown=Yes", "Unknown")
    'SpaceAfter=No'
    """
    return "|".join(pair for pair in value.split("|") if pair.partition("=")[0] != key) or "_"


FORMATS = {
    "conllu": Format(
        read=lambda source, fields, segment: ConlluReader(source),
        rewrite=rewrite_conllu,
        columns_of=lambda head, fields, path: columns_named_in(head, path),
        default_column=lambda names: "upos" if "upos" in names else None,
    )
}
