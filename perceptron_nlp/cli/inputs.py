"""The files that a command line names, opened, and their formats named on standard error."""

from __future__ import annotations

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
    paths: Sequence[str],
    *,
    format: str,
    fields: Sequence[str] | None,
    quiet: bool,
    model: pn.TaggerModel | None = None,
) -> list[pn.Corpus]:
    """The files as texts, each looked into; what they are read as is said on standard error.

    Columns that nobody named have the names that the model was trained with, if they are as many.

    Raises FileError, FormatError or ArgumentError for the first that cannot be read.
    """
    check_stdin(paths, quiet=quiet)
    corpora = []
    for path in paths:
        corpus = pn.open_corpus(path, format=format, fields=fields)
        # A system allows only so many open files; a pipe could not be opened again.
        if path != STDIN and os.path.isfile(path):
            corpus.close()
            if os.path.getsize(path) == 0:
                raise pn.FormatError("the file is empty", path)
        corpora.append(corpus)
    if not quiet and format == "auto":
        _name_formats(corpora)
    if model is not None:
        for corpus in corpora:
            take_fields(corpus, model, quiet=quiet)
    return corpora


def load_tagger(
    model: str, lexicon: str | None, *, column: str | None = None, mmap: bool = False
) -> pn.Tagger:
    """The tagger in a model file, held to a lexicon if there is one.

    The lexicon is for the column that is named, where it is one of several that the model fills,
    else for the first.
    """
    tagger = pn.load(model, mmap=mmap)
    if lexicon is None:
        return tagger
    named = "" if column is None else column.strip()
    return tagger.with_lexicon(lexicon, column=named if named in tagger.columns else None)


def check_stdin(paths: Sequence[str], *, quiet: bool) -> None:
    """Raises FileError unless standard input can be read as often as it is named."""
    if STDIN not in paths:
        return
    if paths.count(STDIN) > 1:
        raise pn.FileError("<stdin>: named twice, but can be read only once")
    if sys.stdin is None:
        raise pn.FileError("<stdin>: is closed; name a file")
    if sys.stdin.isatty() and not quiet:
        say("reading from the terminal; end with Ctrl-D")


def check_there(paths: Sequence[str]) -> None:
    """Raises FileError for the first path that is not there."""
    for path in paths:
        if path != STDIN and not os.path.lexists(path) and not is_bundled(path):
            raise pn.FileError(f"{path or repr(path)}: there is no such file")


def check_apart(place: str, others: Iterable[str], what: str) -> None:
    """Raises FileError where writing to `place` would overwrite one of the other files."""
    for other in others:
        if os.path.isfile(place) and os.path.isfile(other) and os.path.samefile(place, other):
            raise pn.FileError(f"{place}: is {what}, and would be overwritten; name another file")


def take_fields(corpus: pn.Corpus, model: pn.TaggerModel, *, quiet: bool) -> None:
    """Name the columns of a text as those that a model was trained on, and say so."""
    if corpus.take_fields(model.fields) and not quiet:
        say(f"{corpus.path}: --fields {','.join(model.fields)}, as the model was trained with")


def name_format(corpus: pn.Corpus) -> None:
    """Say what a text is read as."""
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
    """Before hours of work, not after them: raises FileError where no model can be saved."""
    if path == STDIN:
        raise pn.FileError("--model: a model is not written to standard output; name a file")
    check_apart(path, inputs, "one of the files to learn from")
    pn.check_place(path)


def save_model(tagger: pn.Tagger, path: str) -> None:
    """Raises FileError where it cannot be saved: a pipe without reader is none of ours."""
    try:
        tagger.save(path)
    except BrokenPipeError as error:
        raise pn.FileError(f"{path}: cannot be written: {error.strerror}") from error


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
