"""The files of a command line: checked and opened, and models saved."""

from __future__ import annotations

import argparse
import os
import select
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import BinaryIO, cast

import perceptron_nlp as pn
from perceptron_nlp.cli.terminal import say
from perceptron_nlp.tagger.tagger import is_bundled

STDIN = "-"
_NAMED_ONE_BY_ONE = 8


def open_inputs(
    chosen: argparse.Namespace, paths: Sequence[str], model: pn.TaggerModel | None = None
) -> list[pn.Corpus]:
    """Open files as the options say, and print on standard error what they are read as.

    Columns without names get those that the model was trained with, if they are as many.

    Raises FileError, FormatError or ArgumentError for the first that cannot be read.
    """
    quiet = chosen.quiet
    check_stdin(paths, quiet=quiet)
    corpora = []
    for path in paths:
        corpus = pn.open_corpus(path, format=chosen.format, fields=chosen.fields)
        # A system allows only so many open files; a pipe could not be opened again.
        if path != STDIN and os.path.isfile(path):
            corpus.close()
            if os.path.getsize(path) == 0:
                raise pn.FormatError("the file is empty", path)
        corpora.append(corpus)
    if not quiet and chosen.format == "auto":
        _name_formats(corpora)
    if model is not None:
        for corpus in corpora:
            take_fields(corpus, model, quiet=quiet)
    return corpora


def load_tagger(
    model: str, lexicon: str | None, *, column: str | None = None, mmap: bool = False
) -> pn.Tagger:
    """Load the tagger of a model file, constrained by a lexicon if there is one.

    The lexicon is for the column that is named, if it is one of several that the model fills, else
    for the first.
    """
    tagger = pn.load(model, mmap=mmap)
    if lexicon is None:
        return tagger
    named = "" if column is None else column.strip()
    return tagger.with_lexicon(lexicon, column=named if named in tagger.columns else None)


def check_stdin(paths: Sequence[str], *, quiet: bool) -> None:
    """Raise FileError unless standard input can be read as often as it is named."""
    if STDIN not in paths:
        return
    if paths.count(STDIN) > 1:
        raise pn.FileError("<stdin>: named twice, but can be read only once")
    if sys.stdin is None:
        raise pn.FileError("<stdin>: is closed; name a file")
    if sys.stdin.isatty() and not quiet:
        say("reading from the terminal; end with Ctrl-D")


def check_there(paths: Sequence[str]) -> None:
    """Raise FileError for the first path that does not exist."""
    for path in paths:
        if path != STDIN and not os.path.lexists(path) and not is_bundled(path):
            raise pn.FileError(f"{path or repr(path)}: there is no such file")


def check_apart(path: str, others: Iterable[str], what: str) -> None:
    """Raise FileError if writing to `path` would overwrite one of the other files."""
    for other in others:
        if os.path.isfile(path) and os.path.isfile(other) and os.path.samefile(path, other):
            raise pn.FileError(f"{path}: is {what}, and would be overwritten; name another file")


def take_fields(corpus: pn.Corpus, model: pn.TaggerModel, *, quiet: bool) -> None:
    """Name the columns of a text as those that a model was trained on, and print them."""
    if corpus.take_fields(model.fields) and not quiet:
        say(f"{corpus.path}: --fields {','.join(model.fields)}, as the model was trained with")


def name_format(corpus: pn.Corpus) -> None:
    """Print the format that a text is read as."""
    say(f"{corpus.path}: read as {corpus.format}")


def _name_formats(corpora: Sequence[pn.Corpus]) -> None:
    if len(corpora) <= _NAMED_ONE_BY_ONE:
        for corpus in corpora:
            name_format(corpus)
        return
    for format, count in Counter(corpus.format for corpus in corpora).items():
        first = next(corpus.path for corpus in corpora if corpus.format == format)
        say(
            f"{first} and {count - 1} more: read as {format}"
            if count > 1
            else f"{first}: read as {format}"
        )


def check_model_place(path: str, inputs: list[str]) -> None:
    """Raise FileError if no model can be saved, before hours of work and not after them."""
    if path == STDIN:
        raise pn.FileError("--model: a model is not written to standard output; name a file")
    check_apart(path, inputs, "one of the training files")
    pn.check_place(path)


def save_model(tagger: pn.Tagger, path: str) -> None:
    """Save a model; raise FileError if that fails, also for a pipe without a reader."""
    try:
        tagger.save(path)
    except BrokenPipeError as error:
        raise pn.FileError(f"{path}: cannot be written: {error.strerror}") from error


class WatchedInput:
    """Standard input that calls a function when reading is about to wait for more.

    What was read so far can then be written.
    """

    name = "<stdin>"

    def __init__(self, before_waiting: Callable[[], object]) -> None:
        self._before_waiting = before_waiting
        self._stream = cast(BinaryIO, sys.stdin.buffer)

    def read(self, size: int) -> bytes:
        """Return what there is, at most `size` bytes; none at the end."""
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
