"""Files tagged one after the other, in batches or as bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO

import perceptron_nlp as pn
from perceptron_nlp import formats
from perceptron_nlp._checks import check_choice, check_threads
from perceptron_nlp.cli.inputs import STDIN, name_format, taggers_of, take_fields, take_segmenter
from perceptron_nlp.cli.terminal import say

if TYPE_CHECKING:
    from perceptron_nlp.cli.tag_sentences import Batches, Marks, Records

TARGETS = ("conllu", "tagged", "lines")
WITHOUT_LABELS = ("lines", "text")
RECORDS = "jsonl"
_ONE_COLUMN = ("tagged", "lines")
Piece = bytes | memoryview


class Tagging:
    """Tags texts in batches of sentences, so that memory stays bounded.

    tagger, column : see `taggers_of`
    format, fields : how texts are read
    field : the field of the texts of JSON lines; None for the usual one
    by_line : each line of running text is a text of its own
    keep : labels that are there stay
    to : the format of running text (`TARGETS`); None for what holds columns and marks
    marks : what is made of confidences, and written into MISC
    quiet : formats that were inferred go unnamed
    opened : from a path to its file, or the path

    Raises ArgumentError if the tagger cannot fill these.
    """

    def __init__(
        self,
        tagger: pn.Tagger,
        column: str | None,
        *,
        format: str = "auto",
        fields: list[str] | None = None,
        field: str | None = None,
        by_line: bool = False,
        keep: bool = False,
        to: str | None = None,
        marks: Marks | None = None,
        threads: int = 1,
        quiet: bool = True,
        opened: Callable[[str], str | BinaryIO] = str,
    ) -> None:
        check_threads(threads)
        if to is not None:
            check_choice("to", to, TARGETS)
        if len(tagger.columns) < 2:
            taggers_of(tagger, column)
        self._tagger = tagger
        self._column = column
        self._format = "text" if by_line else format
        self._fields = fields
        self._field = field
        self._by_line = by_line
        self._keep = keep
        self._to = to
        self._marks = marks
        self._threads = threads
        self._quiet = quiet
        self._opened = opened
        self._chosen: Mapping[str, pn.Tagger] = {}
        self._written = ""
        self._n_numbered = 0
        self._batches: Batches | Records | None = None
        self._last = ""

    def replaces_labels(self, path: str) -> bool:
        """Return True if labels at the beginning of a file are replaced.

        Raises FileError for a file that has no labels: what else it holds would be lost with it.
        """
        with pn.open_corpus(path, format=self._format, fields=self._fields) as corpus:
            self._choose(corpus)
            if corpus.format == RECORDS:
                return False
            if corpus.format in WITHOUT_LABELS:
                raise pn.FileError(
                    f"{path}: is read as {corpus.format}, and would be replaced by"
                    f" {self._written} of its words; name another file with -o"
                )
            from perceptron_nlp.cli.tag_sentences import has_labels

            return not self._keep and has_labels(corpus, self._chosen)

    def formats_of(self, path: str) -> tuple[str, str]:
        """Return the formats that a file is read and written in."""
        with pn.open_corpus(path, format=self._format, fields=self._fields) as corpus:
            self._choose(corpus)
            return corpus.format, self._written

    def texts(
        self, files: list[str], before_waiting: Callable[[], object] | None = None
    ) -> Iterator[Piece]:
        """Yield the tagged texts in pieces; `before_waiting` is called before a pipe is waited for.

        The memory of a piece may be used again for the next one.
        """
        for path in files:
            source = path if path == STDIN else self._opened(path)
            with pn.open_corpus(source, format=self._format, fields=self._fields) as corpus:
                self._begin(corpus)
                if before_waiting is not None:
                    corpus.answer(before_waiting)
                yield self._seam()
                yield from self._text_pieces(corpus)
                yield from self._filled(corpus)
                pieces: Iterable[Any] = corpus.lines() if corpus.format == RECORDS else corpus
                for piece in pieces:
                    if self._batches is None:
                        self._batches = self._new_batches(corpus)
                    if self._batches.add(piece):
                        yield self.finished()
                yield self.finished(at_end=True)
                self._batches = None
                self._last = corpus.tail or self._last
                yield corpus.tail.encode()
            if path != STDIN and not isinstance(source, str):
                # Before the file may be replaced.
                source.close()

    def _begin(self, corpus: pn.Corpus) -> None:
        """Settle how a text is read and written. Raises ArgumentError if that cannot be."""
        is_named = self._format == "auto" and not self._quiet
        unfit = self._choose(corpus)
        if is_named:
            name_format(corpus)
        if unfit is not None and self._written == "conllu" and not self._quiet:
            say(f"{corpus.path}: word/TAG cannot hold all that {unfit} may be; written as CoNLL-U")
        for warning in () if self._quiet else corpus.warnings:
            say(f"warning: {warning}")
        take_fields(corpus, self._tagger.model, quiet=self._quiet)
        self._chosen = taggers_of(self._tagger, self._column, corpus.column_named)
        self._check(corpus, unfit)
        take_segmenter(corpus, self._tagger, quiet=not is_named)
        if self._by_line:
            corpus.end_at_lines()

    def _choose(self, corpus: pn.Corpus) -> str | None:
        """Choose columns and formats; return the only column if word/TAG cannot hold its labels."""
        chosen = self._chosen = taggers_of(self._tagger, self._column, corpus.column_named)
        is_learned = self._tagger.model.segmentation is not None
        if self._format == "auto" and corpus.format == "lines" and is_learned and len(chosen) != 1:
            # Lines hold one column, and are cut already.
            corpus.read_as("text")
        self._written = corpus.format
        if corpus.format not in (*_ONE_COLUMN, "text") or len(chosen) != 1:
            unfit = None
        else:
            ((name, tagger),) = chosen.items()
            model = tagger.model
            fits = model.lemmas is None and not any(map(formats.wrong_tag, model.written_labels))
            unfit = None if fits else name
        is_text = corpus.format == "text"
        if self._to is not None and is_text:
            self._written = self._to
        elif (unfit is not None and corpus.format in WITHOUT_LABELS) or (
            # Learned tokens may hold spaces, and several words, which word/TAG cannot tell.
            is_text
            and (
                len(chosen) != 1
                or getattr(self._marks, "in_misc", False)
                or (is_learned and self._column is None)
            )
        ):
            self._written = "conllu"
        elif is_text:
            self._written = "tagged"
        return unfit

    def _check(self, corpus: pn.Corpus, unfit: str | None) -> None:
        """Raise ArgumentError if the text cannot hold the columns that are to be filled."""
        chosen = self._chosen
        if self._field is not None and corpus.format != RECORDS:
            raise pn.ArgumentError(f"field: {corpus.path} is {corpus.format}, not --json-lines")
        if not chosen and corpus.format not in ("text", RECORDS):
            raise pn.ArgumentError(f"column: text is not cut in {corpus.path} ({corpus.format})")
        if self._to in _ONE_COLUMN and (self._to == "lines") == bool(chosen):
            raise pn.ArgumentError("to: lines have no labels (--column text), and tagged has")
        if self._marks is not None:
            self._marks.check(corpus, chosen, self._written)
        if self._to is not None and corpus.format != "text":
            raise pn.ArgumentError(
                f"to: only running text (--format text) is turned into another format;"
                f" {corpus.path} is read as {corpus.format}"
            )
        if self._written in _ONE_COLUMN and len(chosen) > 1:
            raise pn.ArgumentError(
                f"column: {corpus.path} is {self._written}, which holds one label a token; choose"
                f" one of {', '.join(chosen)}"
            )
        if self._written == "tagged" and unfit is not None:
            raise pn.ArgumentError(
                f"to: word/TAG cannot hold all that {unfit} may be; --to conllu can"
                if self._to is not None
                else f"column: {corpus.path} is word/TAG, which cannot hold all that {unfit} may"
                " be; name another, or another --format"
            )
        if self._column is not None and not chosen.keys().isdisjoint({"id", "form"}):
            name = "id" if "id" in chosen else "form"
            raise pn.ArgumentError(f"column: {name} is given, not filled; name another")
        for name in chosen if corpus.format == "columns" else ():
            n_columns = len(corpus.column_names) + 1
            if self._column is not None and name.isdecimal() and int(name[:9]) > n_columns + 1:
                raise pn.ArgumentError(
                    f"column: {corpus.path} has {n_columns} columns, so a new one is"
                    f" {n_columns + 1}, not {name}"
                )
            if self._keep and name not in corpus.column_names:
                raise pn.ArgumentError(
                    f"keep: {corpus.path} has no column {name}; there are form,"
                    f" {', '.join(corpus.column_names)}; --fields names them"
                )

    def _text_pieces(self, corpus: pn.Corpus) -> Iterator[Piece]:
        """Yield running text with its columns, as far as that takes no object of a token."""
        names = list(self._chosen)
        if corpus.format != "text" or self._marks is not None:
            return
        columns = self._tagger.by_column
        if any(own.window for own in columns.values()) or not {*names} <= {*columns}:
            return
        fill = self._tagger.labelers.text_filler(names)
        pieces: Iterator[bytes] = iter(())
        if fill is not None and self._written == "conllu":
            pieces = fill.texts(corpus, self._number, self._threads)
        elif fill is not None and (fill.can_tag or not names):
            pieces = fill.tagged(corpus, self._threads)
        for piece in pieces:
            self._last = "\n\n"
            yield piece

    def _number(self, n_sentences: int) -> int:
        """Return the number of the first of the sentences that follow, of all files that follow."""
        self._n_numbered += n_sentences
        return self._n_numbered - n_sentences + 1

    def _filled(self, corpus: pn.Corpus) -> Iterator[Piece]:
        """Yield what the core can tag as bytes; the rest of the text stays in the corpus."""
        if corpus.format != "conllu" or self._keep or self._marks is not None:
            return
        how: dict[str, Any] = {"columns": list(self._chosen)}
        if len(self._tagger.columns) == 1:
            how = {"column": next(iter(self._chosen))}
        fill = self._tagger.labelers.filler(corpus, **how)
        if fill is None:
            return
        from perceptron_nlp.cli.tag_sentences import filled

        for text in filled(corpus, fill, self._threads):
            self._last = "\n\n"
            yield text

    def _new_batches(self, corpus: pn.Corpus) -> Any:
        from perceptron_nlp.cli.tag_sentences import Batches, Records

        if corpus.format == RECORDS:
            return Records(
                *(self._tagger, corpus.path, self._field, self._chosen),
                confidences=self._marks is not None,
                threads=self._threads,
            )
        return Batches(
            *(self._tagger, corpus, self._chosen, self._written, self._number),
            keep=self._keep and corpus.format not in WITHOUT_LABELS,
            marks=self._marks,
            threads=self._threads,
        )

    def finished(self, at_end: bool = False) -> bytes:
        """Return the text of the sentences read since the last call, tagged; see Batches."""
        texts = [] if self._batches is None else self._batches.finished(at_end)
        self._last = texts[-1] if texts else self._last
        # Only JSON holds halves of surrogate pairs, which are written so there.
        return "".join(texts).encode("utf-8", "backslashreplace")

    def _seam(self) -> bytes:
        """Return what must end the file before, so that its last sentence stays apart."""
        if not self._last:
            return b""
        line_break = "\r\n" if "\r\n" in self._last else "\n"
        seam = "" if self._last.endswith("\n") else line_break
        if self._written in ("conllu", "columns") and not self._last.endswith(("\n\n", "\n\r\n")):
            seam += line_break
        return seam.encode()
