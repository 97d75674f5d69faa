"""``perceptron-nlp tag``: writes files back with one column filled in by a model."""

from __future__ import annotations

import argparse
import select
import sys
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import perceptron_nlp as pn
from perceptron_nlp.cli.filling import Fill, Filling
from perceptron_nlp.cli.inputs import (
    STDIN,
    check_apart,
    check_stdin,
    check_there,
    load_tagger,
    name_format,
)
from perceptron_nlp.cli.marking import Marks
from perceptron_nlp.cli.parquet import add_parquet_option, are_parquet, write_parquet
from perceptron_nlp.cli.parsing import (
    FORMATS,
    VerbParser,
    add_format_options,
    add_lexicon_option,
    add_quiet_option,
    add_threads_option,
)
from perceptron_nlp.cli.tagfolder import add_engine_option, tag_folder
from perceptron_nlp.formats.packedtext import packed

if TYPE_CHECKING:
    from concurrent.futures import Future

EXAMPLES = """\
  perceptron-nlp tag en < letter.txt
  perceptron-nlp tag en letter.txt --column upos
  perceptron-nlp tag en.model new.conllu -o tagged.conllu
  zcat big.conllu.gz | perceptron-nlp tag en.model | gzip > tagged.conllu.gz
  perceptron-nlp tag en.model half-tagged.conllu --keep
  perceptron-nlp tag en.model new.conllu --confidence --mark-unknown
  perceptron-nlp tag brown.model new.conllu --column xpos
  perceptron-nlp tag en.model new.conllu --lexicon names.tsv
  perceptron-nlp tag chunk.model words.txt --fields form,xpos
  perceptron-nlp tag en.model words.parquet -o tagged.parquet --tokens-column words
  perceptron-nlp tag --engine ray en.model texts/ tagged/"""
DESCRIPTION = """\
Write text back with the columns of the model filled in. All else in CoNLL-U and column files
stays as it is, byte for byte; a column file without the column gets it at the end of its lines.
Running text (text) is cut into sentences and words first, and becomes CoNLL-U where the model
fills several columns, else word/TAG, a sentence a line. Text that is cut already (lines: a sentence
a line, its words parted by spaces) becomes word/TAG and keeps its words and lines.
Parquet files (.parquet, a row a sentence) get columns of lists of labels."""

# What is held at a time: enough sentences to keep the core busy, few enough to stay small.
BATCH_SENTENCES = 1024
BATCH_WORDS = 1 << 15
PIECE_BYTES = 1 << 18
Piece = bytes | memoryview


def parser() -> VerbParser:
    """The arguments of the verb."""
    verb = VerbParser("tag", DESCRIPTION, EXAMPLES)
    verb.add_argument("model", metavar="MODEL",
                      help="a model file, or en: the English model that comes along")
    verb.add_argument("files", nargs="*", metavar="FILES",
                      help="files to tag (default: standard input, which - stands for)")
    verb.add_argument("-o", "--output", metavar="OUT",
                      help="the file to write, whole or not at all, packed where its name ends in"
                           " .gz, .bz2 or .xz (default: standard output)")
    verb.add_argument("--column", metavar="NAME",
                      help="the column to fill, by name or number (default: the one that was"
                           " learnt); of a model of several columns, which of them are filled,"
                           " parted by commas (default: all)")
    verb.add_argument("--keep", action="store_true",
                      help="keep the labels that the column has already (all but _); they are"
                           " context for the others")
    verb.add_argument("--confidence", action="store_true",
                      help="write into MISC how likely each label is right: Conf=0.9731, or"
                           " Conf[upos]=0.9731 where several columns are filled (CoNLL-U only; the"
                           " model must be calibrated)")
    verb.add_argument("--mark-unknown", action="store_true",
                      help="write Unknown=Yes into MISC of words that were not in the training text"
                           " (CoNLL-U only)")
    add_lexicon_option(verb)
    add_format_options(verb, FORMATS + "|lines|text|parquet")
    add_parquet_option(verb)
    verb.add_argument("--to", metavar="conllu|tagged",
                      help="what running text becomes: conllu, with # text and SpaceAfter=No, or"
                           " tagged (word/TAG)")
    add_threads_option(verb)
    add_engine_option(verb)
    verb.add_argument("--mmap", action="store_true",
                      help="map the model into memory: processes that tag with it share what stays"
                           " of the file, which nobody may write into meanwhile")
    add_quiet_option(verb)
    return verb


def run(chosen: argparse.Namespace) -> None:
    """Tag the files one after the other, or a folder of them by the workers of an engine."""
    if chosen.engine is not None:
        tag_folder(chosen)
        return
    files = chosen.files or [STDIN]
    check_there(files)
    check_stdin([*files, *filter(None, [chosen.lexicon])], quiet=True)
    tagger = load_tagger(chosen.model, chosen.lexicon, column=chosen.column, mmap=chosen.mmap)
    if are_parquet(chosen, files):
        write_parquet(chosen, tagger, files[0])
        return
    marks = Marks(confidence=chosen.confidence, unknown=chosen.mark_unknown)
    wanted = marks if chosen.confidence or chosen.mark_unknown else None
    filling = Filling(tagger, chosen.column, keep=chosen.keep, marks=wanted, to=chosen.to)
    tagging = Tagging(tagger, filling,
                      format=chosen.format, fields=chosen.fields, threads=chosen.threads,
                      quiet=chosen.quiet)
    to_stdout = chosen.output in (None, STDIN)
    if not to_stdout:
        check_apart(chosen.output, [chosen.model], "the model")
        check_apart(chosen.output, filter(None, [chosen.lexicon]), "the lexicon")
        check_stdin(files, quiet=chosen.quiet)
        pn.replace_file(chosen.output, packed(chosen.output, tagging.texts(files, STDIN)))
        return
    if sys.stdout is None:
        raise pn.FileError("<stdout>: is closed; name a file with -o")
    check_stdin(files, quiet=chosen.quiet)
    stdin: Any = WatchedInput(lambda: _write(tagging.finished()))
    for text in tagging.texts(files, stdin):
        _write(text)


def _write(text: Piece) -> None:
    if text:
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()


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

    def __init__(self, tagger: pn.Tagger, filling: Filling, *, format: str,
                 fields: list[str] | None, threads: int, quiet: bool) -> None:
        tagger.tag_sents([], threads=threads)  # refuses a number of threads before any reading
        self._filling = filling
        self._format = format
        self._fields = fields
        self._threads = threads
        self._quiet = quiet
        self._corpus: pn.Corpus | None = None
        self._pending: list[pn.Sentence] = []
        self._pending_words = 0
        self._before: list[pn.Sentence] = []
        self._last = ""

    def texts(self, files: list[str], stdin: str | BinaryIO) -> Iterator[Piece]:
        """The tagged texts, piece by piece; `stdin` is what is read in place of ``-``.

        The memory of a piece may be used again for the next one.
        """
        for path in files:
            with pn.open_corpus(stdin if path == STDIN else path, format=self._format,
                                fields=self._fields) as corpus:
                if not self._quiet and self._format == "auto":
                    name_format(corpus)
                self._filling.check(corpus)
                self._corpus = corpus
                yield self._seam()
                yield from self._filled(corpus, 0 if path == STDIN else 2 * self._threads)
                for sentence in corpus:
                    self._pending.append(sentence)
                    self._pending_words += len(sentence)
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
        self._before = seen[max(0, len(seen) - window):]
        self._pending, self._pending_words = after, sum(map(len, after))
        self._last = texts[-1]
        return "".join(texts).encode()

    def _is_full(self) -> bool:
        window = self._filling.window
        return (len(self._pending) >= BATCH_SENTENCES * self._threads + window
                or (self._pending_words >= BATCH_WORDS * self._threads
                    and len(self._pending) > 2 * window))

    def _seam(self) -> bytes:
        """What must end the file before, so that its last sentence stays one of its own."""
        if not self._last or self._corpus is None:
            return b""
        line_break = "\r\n" if "\r\n" in self._last else "\n"
        seam = "" if self._last.endswith("\n") else line_break
        if (self._corpus.format in ("conllu", "columns")
                and not self._last.endswith(("\n\n", "\n\r\n"))):
            seam += line_break
        return seam.encode()


class WatchedInput:
    """Standard input that tells when reading is about to wait for more.

    Parameters
    ----------
    before_waiting : called then; what was read so far can be written
    """

    name = "<stdin>"

    def __init__(self, before_waiting: Callable[[], object]) -> None:
        self._before_waiting = before_waiting
        self._stream = cast(BinaryIO, sys.stdin.buffer)

    def read(self, size: int) -> bytes:
        """What there is, at most `size` bytes; none at the end."""
        if not self._is_ready():
            self._before_waiting()
        read_some: Callable[[int], bytes] = getattr(self._stream, "read1", self._stream.read)
        return read_some(size)

    def _is_ready(self) -> bool:
        try:
            return bool(select.select([self._stream], [], [], 0)[0])
        except (OSError, ValueError):
            # No descriptor, or a system where only sockets can be asked.
            return True
