"""Files tagged one after the other, in batches of sentences, or as bytes where the core can."""

from __future__ import annotations

import argparse
import importlib
import os
from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import perceptron_nlp as pn
from perceptron_nlp.cli.filling import Fill, Filling, taggers_of
from perceptron_nlp.cli.inputs import STDIN, name_format, take_fields
from perceptron_nlp.cli.parsing import UsageError, VerbParser
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

    Parameters
    ----------
    tagger : the tagger
    filling : which columns it fills, and how
    format, fields : see perceptron_nlp.open_corpus
    threads : see Tagger.tag_sents
    quiet : whether formats that were found by looking go unnamed
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
    ) -> None:
        tagger.tag_sents([], threads=threads)  # refuses a number of threads before any reading
        self._filling = filling
        self._tagger = tagger
        self._format = format
        self._fields = fields
        self._threads = threads
        self._quiet = quiet
        self._corpus: pn.Corpus | None = None
        self._pending: list[pn.Sentence] = []
        self._pending_words = self._pending_characters = 0
        self._before: list[pn.Sentence] = []
        self._last = ""

    def texts(self, files: list[str], stdin: str | BinaryIO) -> Iterator[Piece]:
        """The tagged texts, piece by piece; `stdin` is what is read in place of ``-``.

        The memory of a piece may be used again for the next one.
        """
        for path in files:
            with pn.open_corpus(
                stdin if path == STDIN else path, format=self._format, fields=self._fields
            ) as corpus:
                if not self._quiet and self._format == "auto":
                    name_format(corpus)
                for warning in () if self._quiet else corpus.warnings:
                    say(f"warning: {warning}")
                take_fields(corpus, self._tagger.model, quiet=self._quiet)
                self._filling.check(corpus)
                if corpus.format == "text" and (segmenter := self._tagger.segmenter) is not None:
                    corpus.cut_by(segmenter.sentences_in)
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

    def _filled(self, corpus: pn.Corpus, ahead: int) -> Iterator[Piece]:
        """What the core can tag as bytes, up to `ahead` pieces at a time read before the first is
        done; the rest of the text stays in the corpus."""
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
        """The text of the sentences read since the last call, tagged.

        Those whose neighbours are not read yet wait for them, unless the file is at its end.
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
        """What must end the file before, so that its last sentence stays one of its own."""
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
    """How many characters a sentence from a file has there."""
    return 0 if sentence.layout is None else len(sentence.layout.text)


ENGINES = ("ray",)


def add_engine_option(verb: VerbParser) -> None:
    """``--engine``."""
    verb.add_argument(
        "--engine",
        choices=ENGINES,
        metavar="NAME",
        help="ray: the files are a folder of Parquet or CoNLL-U files and one for the"
        " outputs, and workers tag them; begun again, the work goes on with what"
        " is not done",
    )


class FolderJob(NamedTuple):
    """Tags one file, in whatever process it comes to.

    Attributes
    ----------
    model, digest : the model file and its SHA-256
    version : of this library, where the work was begun
    column, format, fields, keep, tokens_column : as on the command line
    """

    model: str
    digest: str
    version: str
    column: str | None
    format: str
    fields: list[str] | None
    keep: bool
    tokens_column: str | None

    def __call__(self, pair: tuple[str, str]) -> tuple[str, pn.PerceptronNLPError | None]:
        """Tag the first file of a pair into the second; its name, and what was wrong with it."""
        read, written = pair
        try:
            batches = importlib.import_module("perceptron_nlp.integrations.batches")
            batches.check_version(self.version)
            tagger = batches.tagger_at(self.model, self.digest)
            pn.replace_file(written, _while_unchanged(read, self._pieces(tagger, read)))
        except pn.PerceptronNLPError as error:
            if isinstance(error, pn.ArgumentError | pn.ArgumentTypeError):
                # What option does not fit is told, and here in which file.
                return read, type(error)(f"{read}: {error}")
            return read, error
        return read, None

    def _pieces(self, tagger: pn.Tagger, read: str) -> Any:
        if read.endswith(".parquet"):
            parquet = importlib.import_module("perceptron_nlp.integrations.parquet")
            return parquet.tag_parquet(
                taggers_of(tagger, self.column), read, tokens_column=self.tokens_column
            )
        filling = Filling(tagger, self.column, keep=self.keep)
        return Tagging(
            tagger, filling, format=self.format, fields=self.fields, threads=1, quiet=True
        ).texts([read], "")


def _while_unchanged(path: str, pieces: Iterable[Any]) -> Iterator[Any]:
    """The pieces that are made of a file; FileError in place of the end if it was changed."""
    before = _state(path)
    yield from pieces
    if _state(path) != before:
        raise pn.FileError(
            f"{path}: was changed while it was tagged; begin again when nobody writes it"
        )


def _state(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        # Whoever reads it tells what is wrong.
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def tag_folder(chosen: argparse.Namespace) -> None:
    """Tag a folder as the command line says."""
    _check(chosen)
    engine = importlib.import_module(f"perceptron_nlp.integrations.{chosen.engine}")
    batches = importlib.import_module("perceptron_nlp.integrations.batches")
    folders = importlib.import_module("perceptron_nlp.integrations.folders")
    source, target = chosen.files
    model = batches.ArrowTagger(chosen.model).model
    digest = batches.digest_of(model)
    told = {
        "column": chosen.column,
        "format": chosen.format,
        "fields": chosen.fields,
        "keep": chosen.keep,
        "tokens_column": chosen.tokens_column,
    }
    plan = folders.FolderPlan(source, target, {"model": digest, "version": pn.__version__, **told})
    job = FolderJob(model, digest, pn.__version__, **told)
    failed = []
    for read, error in engine.run_all(job, plan.todo) if plan.todo else ():
        if error is not None:
            failed.append((read, error))
    failed.sort(key=lambda pair: pair[0])
    if not chosen.quiet:
        # The first is raised, and so said last.
        for _, error in failed[1:]:
            say(str(error))
        say(
            f"{target}: files tagged: {len(plan.todo) - len(failed)}, done before:"
            f" {plan.n_done}, not tagged: {len(failed)}"
        )
    if failed:
        raise failed[0][1]


def _check(chosen: argparse.Namespace) -> None:
    if len(chosen.files) != 2:
        raise UsageError(
            "--engine: needs a folder of files to tag and one for the outputs:"
            " perceptron-nlp tag --engine ray MODEL IN_DIR OUT_DIR"
        )
    for option, given in (("--output", chosen.output), ("--lexicon", chosen.lexicon)):
        if given is not None:
            raise UsageError(f"{option}: does not go with --engine")
    if chosen.threads != 1:
        raise UsageError("--threads: does not go with --engine, whose workers have one each")
    if chosen.format not in ("auto", "conllu"):
        raise UsageError(
            "--format: with --engine files are CoNLL-U or Parquet, by the ends of their names"
        )
