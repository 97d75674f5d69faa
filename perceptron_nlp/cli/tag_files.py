"""Files tagged one after the other, in batches or as bytes."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

import perceptron_nlp as pn
from perceptron_nlp import formats
from perceptron_nlp._checks import check_choice, check_threads
from perceptron_nlp.cli.inputs import STDIN, name_format, taggers_of, take_fields, take_segmenter
from perceptron_nlp.cli.terminal import say

if TYPE_CHECKING:
    from concurrent.futures import Future

    from perceptron_nlp.cli.tag_marks import Columns, Marks
    from perceptron_nlp.tagger.tag.fill import Fill

NOT_GIVEN = "_"
TARGETS = ("conllu", "tagged")
WITHOUT_LABELS = ("lines", "text")
_ONE_COLUMN = ("tagged", "lines")
# What is held at a time: enough sentences to keep the core busy, few enough to stay small.
BATCH_SENTENCES = 1024
BATCH_WORDS = 1 << 15
BATCH_CHARACTERS = 1 << 22
PIECE_BYTES = 1 << 18
# Sentences of a file that are searched for labels.
_LOOKED_AT = 1000
Piece = bytes | memoryview


class Tagging:
    """Tags texts in batches of sentences, so that memory stays bounded.

    tagger, column : see `taggers_of`
    format, fields : how texts are read
    by_line : each line of running text is a text of its own
    keep : labels that are there stay
    to : the format of running text, "conllu" or "tagged"; None for what holds columns and marks
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
        if len(tagger.columns) == 1:
            taggers_of(tagger, column)
        self._tagger = tagger
        self._column = column
        self._format = "text" if by_line else format
        self._fields = fields
        self._by_line = by_line
        self._keep = keep
        self._to = to
        self._marks = marks
        self._threads = threads
        self._quiet = quiet
        self._opened = opened
        # The number of sentences on either side that are context, at most.
        self._window = max(own.window for own in tagger.by_column.values())
        self._corpus: pn.Corpus | None = None
        self._chosen: Mapping[str, pn.Tagger] = {}
        self._written = ""
        self._n_numbered = 0
        self._pending: list[pn.Sentence] = []
        self._pending_words = self._pending_characters = 0
        self._before: list[pn.Sentence] = []
        self._last = ""

    def replaces_labels(self, path: str) -> bool:
        """Return True if labels at the beginning of a file are replaced.

        Raises FileError for a file that has no labels: what else it holds would be lost with it.
        """
        with pn.open_corpus(path, format=self._format, fields=self._fields) as corpus:
            self._choose(corpus)
            if corpus.format in WITHOUT_LABELS:
                raise pn.FileError(
                    f"{path}: is read as {corpus.format}, and would be replaced by"
                    f" {self._written} of its words; name another file with -o"
                )
            return not self._keep and any(
                label != NOT_GIVEN
                for sentence in itertools.islice(corpus, _LOOKED_AT)
                for name in map(corpus.column_named, self._chosen)
                if name in sentence.columns
                for label in sentence.columns[name]
            )

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
                for sentence in corpus:
                    self._pending.append(sentence)
                    self._pending_words += len(sentence)
                    self._pending_characters += _length(sentence)
                    if self._is_full():
                        yield self.finished()
                yield self.finished(at_end=True)
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
        self._corpus = corpus

    def _choose(self, corpus: pn.Corpus) -> str | None:
        """Choose columns and formats; return the only column if word/TAG cannot hold its labels."""
        chosen = self._chosen = taggers_of(self._tagger, self._column, corpus.column_named)
        is_learned = self._tagger.model.segmentation is not None
        if self._format == "auto" and corpus.format == "lines" and is_learned and len(chosen) > 1:
            # Lines hold one column.
            corpus.read_as("text")
        self._written = corpus.format
        if corpus.format not in (*_ONE_COLUMN, "text") or len(chosen) > 1:
            unfit = None
        else:
            ((name, tagger),) = chosen.items()
            unfit = None if _fits_tokens(tagger.model) else name
        is_text = corpus.format == "text"
        if self._to is not None and is_text:
            self._written = self._to
        elif (unfit is not None and corpus.format in WITHOUT_LABELS) or (
            # Learned tokens may hold spaces, and several words, which word/TAG cannot tell.
            is_text
            and (len(chosen) > 1 or self._has_marks or (is_learned and self._column is None))
        ):
            self._written = "conllu"
        elif is_text:
            self._written = "tagged"
        return unfit

    def _check(self, corpus: pn.Corpus, unfit: str | None) -> None:
        """Raise ArgumentError if the text cannot hold the columns that are to be filled."""
        chosen = self._chosen
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

    @property
    def _has_marks(self) -> bool:
        return self._marks is not None and self._marks.in_misc

    def _text_pieces(self, corpus: pn.Corpus) -> Iterator[Piece]:
        """Yield running text with its columns, as far as that takes no object of a token."""
        names = list(self._chosen)
        if corpus.format != "text" or self._marks is not None:
            return
        if self._window or not {*names} <= {*self._tagger.columns}:
            return
        fill = self._tagger.text_filler(names)
        pieces: Iterator[bytes] = iter(())
        if fill is not None and self._written == "conllu":
            pieces = fill.texts(corpus, self._number, self._threads)
        elif fill is not None and fill.can_tag:
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
        fill = self._tagger.filler(corpus, **how)
        if fill is None:
            return
        if self._threads == 1:
            yield from self._filled_in_turn(corpus, fill)
            return
        # Here, since it brings logging in, and one thread does without.
        from concurrent.futures import ThreadPoolExecutor

        waiting: deque[tuple[bytes, Future[bytes | None]]] = deque()
        with ThreadPoolExecutor(self._threads) as pool:
            while True:
                piece = corpus.take_blocks(PIECE_BYTES)
                if piece:
                    waiting.append((piece, pool.submit(fill, piece)))
                is_behind = not piece or corpus.is_waiting()
                while waiting and (is_behind or len(waiting) > 2 * self._threads):
                    text = waiting[0][1].result()
                    if text is None:
                        corpus.put_back(b"".join(unread for unread, _ in waiting))
                        return
                    waiting.popleft()
                    self._last = "\n\n"
                    yield text
                if not piece:
                    return

    def _filled_in_turn(self, corpus: pn.Corpus, fill: Fill) -> Iterator[Piece]:
        memory, filled = bytearray(PIECE_BYTES), bytearray()
        while length := corpus.take_blocks_into(memory):
            with memoryview(memory)[:length] as piece:
                done = fill.into(piece, filled)
                if done is None:
                    corpus.put_back(piece)
                    return
            self._last = "\n\n"
            with memoryview(filled)[:done] as text:
                yield text

    def finished(self, at_end: bool = False) -> bytes:
        """Return the text of the sentences read since the last call, tagged.

        Sentences whose context is not read yet wait for it, unless the file is at its end.
        """
        corpus, window = self._corpus, self._window
        n_ready = max(0, len(self._pending) - (0 if at_end else window))
        batch, after = self._pending[:n_ready], self._pending[n_ready:]
        if corpus is None or not batch:
            return b""
        columns = self._labeled(corpus, batch, after)
        seen = [] if at_end else [*self._before, *batch]
        self._before = seen[max(0, len(seen) - window) :]
        self._pending, self._pending_words = after, sum(map(len, after))
        self._pending_characters = sum(map(_length, after))
        texts = [self._rewritten(corpus, *each) for each in zip(batch, columns, strict=True)]
        self._last = texts[-1]
        return "".join(texts).encode()

    def _labeled(
        self, corpus: pn.Corpus, batch: Sequence[pn.Sentence], after: Sequence[pn.Sentence]
    ) -> Columns:
        """Return the columns of sentences that are filled in; see Tagger.tag_sents."""
        kept: dict[str, list[list[str | None]]] = {}
        if self._keep and corpus.format not in WITHOUT_LABELS:
            kept = {
                name: [
                    [None if label == NOT_GIVEN else label for label in sentence.column(name)]
                    for sentence in batch
                ]
                for name in self._chosen
            }
        # The only column of a tagger may be written under another name.
        names = {name: tagger.column for name, tagger in self._chosen.items()}
        how: dict[str, Any] = {
            "threads": self._threads,
            "before": self._before,
            "after": after,
            "keep": {names[name]: own for name, own in kept.items()} or None,
            "columns": list(names.values()),
        }
        found: Mapping[str, Sequence[list[str]]]
        confidences: dict[str, Sequence[Sequence[float]]] = {}
        if self._marks is not None and self._marks.reads_confidences:
            both = self._tagger.tag_sents(batch, confidences=True, **how)
            found = {column: labels for column, (labels, _) in both.items()}
            confidences = {name: both[column][1] for name, column in names.items()}
        else:
            found = self._tagger.tag_sents(batch, **how)
        columns: Columns = [
            {name: found[column][at] for name, column in names.items()} for at in range(len(batch))
        ]
        if self._marks is not None:
            self._marks.add(batch, columns, self._chosen, confidences, kept)
        return columns

    def _rewritten(
        self, corpus: pn.Corpus, sentence: pn.Sentence, columns: dict[str, list[str]]
    ) -> str:
        """Return the text of a sentence with its columns."""
        if not sentence.words:
            return corpus.rewrite(sentence, {})
        try:
            if self._written != "conllu" or corpus.format == "conllu":
                return corpus.rewrite(sentence, columns)
            # Several texts make one file, in which each sentence has a name of its own.
            return formats.as_conllu(sentence, columns, self._number(1))
        except pn.ArgumentError as error:
            message = str(error).removeprefix("columns: ")
            raise pn.FormatError(message, sentence.path, sentence.line_of(0)) from error

    def _is_full(self) -> bool:
        return len(self._pending) >= BATCH_SENTENCES * self._threads + self._window or (
            (
                self._pending_words >= BATCH_WORDS * self._threads
                or self._pending_characters >= BATCH_CHARACTERS
            )
            and len(self._pending) > 2 * self._window
        )

    def _seam(self) -> bytes:
        """Return what must end the file before, so that its last sentence stays apart."""
        if not self._last:
            return b""
        line_break = "\r\n" if "\r\n" in self._last else "\n"
        seam = "" if self._last.endswith("\n") else line_break
        if self._written in ("conllu", "columns") and not self._last.endswith(("\n\n", "\n\r\n")):
            seam += line_break
        return seam.encode()


def _fits_tokens(model: pn.TaggerModel) -> bool:
    """Return True if word/TAG can hold all labels that a model may give."""
    return model.lemmas is None and not any(map(formats.wrong_tag, model.written_labels))


def _length(sentence: pn.Sentence) -> int:
    """Return the number of characters of a sentence in its file."""
    return 0 if sentence.layout is None else len(sentence.layout.text)
