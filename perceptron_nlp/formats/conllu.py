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

import re
from collections.abc import Iterator, Sequence

from perceptron_nlp.errors import FormatError
from perceptron_nlp.formats.conllu_layout import ConlluLayout, pick, plain_ids, without_empty_line
from perceptron_nlp.formats.conllu_rules import (
    COLUMNS,
    GLOBAL_COLUMNS,
    NO_SPACES,
    BeyondSentenceError,
    Place,
    check_heads,
    check_ranges_and_empties,
    may_hold_spaces,
    refuse_grid,
    starts_in_the_middle,
    word_rows,
)
from perceptron_nlp.formats.conllu_scanned import ScannedSentences
from perceptron_nlp.formats.conllu_values import KnownDeps, KnownValues, SharedValues
from perceptron_nlp.formats.grid import split_grid
from perceptron_nlp.formats.lines import BOM, LONGEST, LineSource, too_long
from perceptron_nlp.formats.opening import Readable
from perceptron_nlp.text.sentence import Sentence

_EAGER = ("upos", "xpos")
# Words that a comment would swallow.
_WORD_AFTER_RETURN = re.compile(r"\r[0-9]+(?:[-.][0-9]+)?\t")


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
    """Iterates over the sentences of a source; then ``tail`` is what follows the last.

    ``scanned=False`` reads all of them here, line by line; what comes of it is the same.
    """

    def __init__(self, source: LineSource, *, scanned: bool = True) -> None:
        self.tail = ""
        self._source = source
        self._scanned = ScannedSentences(source) if scanned else None
        self._known = {name: KnownValues(name) for name in ("feats", *NO_SPACES)}
        self._deps = KnownDeps()
        self._shared = {name: SharedValues() for name in ("form", *_EAGER)}
        self._at: dict[str, int] = {}
        self._set_columns(COLUMNS)

    def __iter__(self) -> Iterator[Sentence]:
        before: list[str] = []
        length = 0
        blocks = self._source.blocks()
        while True:
            if self._scanned is not None and not before and self._columns == COLUMNS:
                yield from self._scanned
            first_line, block = next(blocks, (0, ""))
            if not block:
                break
            start = self._start_of_words(block, first_line)
            before.append(block)
            length += len(block)
            if length > LONGEST:
                raise too_long("sentence", self._source.name, first_line)
            if start == len(block):
                continue
            text = block if len(before) == 1 else "".join(before)
            line = first_line + block.count("\n", 0, start)
            try:
                sentence = self._sentence(text, len(text) - len(block) + start, line)
            except BeyondSentenceError as error:
                self._blame_what_cuts_the_sentence(blocks)
                raise FormatError(error.message, error.path, error.line) from None
            if sentence is not None:
                before.clear()
                length = 0
                yield sentence
        self.tail = "".join(before)

    def _set_columns(self, columns: tuple[str, ...]) -> None:
        self._columns = columns
        self._at = {name: number for number, name in enumerate(columns)}
        self._eager = tuple(name for name in _EAGER if name in columns)

    def _start_of_words(self, block: str, first_line: int) -> int:
        start = 0
        if first_line == 1:
            start = 1 if block.startswith(BOM) else 0
            self._set_columns(columns_named_in(block[start:], self._source.name))
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
        """The sentence whose lines begin at ``start`` of ``text``; None if it has no words."""
        place = Place(self._source.name, line, self._columns)
        body, end = without_empty_line(text, start)
        cells = split_grid(body, "\t", len(self._columns))
        if cells is None:
            refuse_grid(body[:-1].split("\n"), place)
        stride = len(self._columns) + 1
        ids = cells[self._at["id"] :: stride]
        rows: Sequence[int] = range(len(ids))
        lines: Sequence[int] = range(line, line + len(ids))
        if ids != plain_ids(len(ids)):
            rows = word_rows(ids, place)
            lines = [line + row for row in rows]
            check_ranges_and_empties(cells, ids, rows, place)
        self._check_values(body, cells, ids, rows, place)
        if not rows:
            return None
        words, *eager = (
            self._shared[name].take(pick(cells[self._at[name] :: stride], rows))
            for name in ("form", *self._eager)
        )
        columns = dict(zip(self._eager, eager, strict=True))
        layout = ConlluLayout(text, (start, end), self._columns, rows, columns)
        return Sentence.from_reader(words, layout, self._source.name, lines, layout)

    def _check_values(
        self, body: str, cells: list[str], ids: list[str], rows: Sequence[int], place: Place
    ) -> None:
        stride = len(self._columns) + 1
        at = self._at
        checked = ("feats", *NO_SPACES) if may_hold_spaces(body) else ("feats",)
        for name in checked:
            if name in at:
                self._known[name].check(cells[at[name] :: stride], place)
        if "head" in at:
            check_heads(pick(cells[at["head"] :: stride], rows), pick(ids, rows), place, rows)
        if "deps" in at:
            self._deps.check(cells[at["deps"] :: stride], ids, len(rows), place)

    def _blame_what_cuts_the_sentence(self, blocks: Iterator[tuple[int, str]]) -> None:
        """After a head beyond its sentence: raises for what follows if it is the missing rest."""
        for first_line, block in blocks:
            start = self._start_of_words(block, first_line)
            if start == len(block):
                continue
            name = block[start:].partition("\t")[0]
            if start == 0 and starts_in_the_middle(name):
                word_rows([name], Place(self._source.name, first_line, self._columns))
            return


def columns_named_in(head: str, path: str) -> tuple[str, ...]:
    """The columns, in lower case, of a text that begins with ``head``: ten, or as it says."""
    if not head.startswith(GLOBAL_COLUMNS):
        return COLUMNS
    names = tuple(head.partition("\n")[0].partition("=")[2].lower().split())
    if "id" not in names or "form" not in names:
        raise FormatError("global.columns must name at least ID and FORM", path, 1)
    if len(set(names)) < len(names):
        raise FormatError("global.columns names a column twice", path, 1)
    return names
