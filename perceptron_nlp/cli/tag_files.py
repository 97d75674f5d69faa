"""Tagging of files one after the other, in batches or as bytes, or of a folder by an engine."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, BinaryIO

import perceptron_nlp as pn
from perceptron_nlp.cli.filling import Fill, Filling
from perceptron_nlp.cli.inputs import STDIN, name_format, take_fields, take_segmenter
from perceptron_nlp.cli.terminal import say

if TYPE_CHECKING:
    from concurrent.futures import Future

# What is held at a time: enough sentences to keep the core busy, few enough to stay small.
BATCH_SENTENCES = 1024
BATCH_WORDS = 1 << 15
BATCH_CHARACTERS = 1 << 22
PIECE_BYTES = 1 << 18
Piece = bytes | memoryview


class Tagging:
    """Tags texts in batches of sentences, so that memory stays bounded.

    If quiet, formats that were inferred go unnamed. `opened` gives the file of a path, or the path.
    """

    def __init__(
        self,
        tagger: pn.Tagger,
        filling: Filling,
        *,
        format: str,
        fields: list[str] | None,
        threads: int,
        quiet: bool,
        opened: Callable[[str], str | BinaryIO] = str,
    ) -> None:
        tagger.tag_sents([], threads=threads)  # refuses a number of threads before any reading
        self._filling = filling
        self._tagger = tagger
        self._format = format
        self._fields = fields
        self._threads = threads
        self._quiet = quiet
        self._opened = opened
        self._corpus: pn.Corpus | None = None
        self._pending: list[pn.Sentence] = []
        self._pending_words = self._pending_characters = 0
        self._before: list[pn.Sentence] = []
        self._last = ""

    def texts(self, files: list[str], stdin: str | BinaryIO) -> Iterator[Piece]:
        """Yield the tagged texts in pieces; `stdin` is what is read in place of ``-``.

        The memory of a piece may be used again for the next one.
        """
        for path in files:
            source = stdin if path == STDIN else self._opened(path)
            with pn.open_corpus(source, format=self._format, fields=self._fields) as corpus:
                if self._format == "auto":
                    self._filling.suit(corpus)
                    if not self._quiet:
                        name_format(corpus)
                for warning in () if self._quiet else corpus.warnings:
                    say(f"warning: {warning}")
                take_fields(corpus, self._tagger.model, quiet=self._quiet)
                self._filling.check(corpus)
                take_segmenter(corpus, self._tagger, quiet=self._quiet or self._format != "auto")
                self._corpus = corpus
                yield self._seam()
                yield from self._filled(corpus, 0 if path == STDIN else 2 * self._threads)
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

    def _filled(self, corpus: pn.Corpus, ahead: int) -> Iterator[Piece]:
        """Yield what the core can tag as bytes, reading up to `ahead` pieces before the first is
        done; the rest of the text stays in the corpus."""
        if corpus.format == "text":
            for piece in self._filling.text_pieces(corpus, self._threads):
                self._last = "\n\n"
                yield piece
            return
        fill = self._filling.as_bytes(corpus)
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
                while waiting and (len(waiting) > ahead or not piece):
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
        corpus, window = self._corpus, self._filling.window
        n_ready = max(0, len(self._pending) - (0 if at_end else window))
        batch, after = self._pending[:n_ready], self._pending[n_ready:]
        if corpus is None or not batch:
            return b""
        texts = self._filling.texts(corpus, batch, self._threads, self._before, after)
        seen = [] if at_end else [*self._before, *batch]
        self._before = seen[max(0, len(seen) - window) :]
        self._pending, self._pending_words = after, sum(map(len, after))
        self._pending_characters = sum(map(_length, after))
        self._last = texts[-1]
        return "".join(texts).encode()

    def _is_full(self) -> bool:
        window = self._filling.window
        return len(self._pending) >= BATCH_SENTENCES * self._threads + window or (
            (
                self._pending_words >= BATCH_WORDS * self._threads
                or self._pending_characters >= BATCH_CHARACTERS
            )
            and len(self._pending) > 2 * window
        )

    def _seam(self) -> bytes:
        """Return what must end the file before, so that its last sentence stays apart."""
        if not self._last or self._corpus is None:
            return b""
        line_break = "\r\n" if "\r\n" in self._last else "\n"
        seam = "" if self._last.endswith("\n") else line_break
        if self._corpus.format in ("conllu", "columns") and not self._last.endswith(
            ("\n\n", "\n\r\n")
        ):
            seam += line_break
        return seam.encode()


def _length(sentence: pn.Sentence) -> int:
    """Return the number of characters of a sentence in its file."""
    return 0 if sentence.layout is None else len(sentence.layout.text)
