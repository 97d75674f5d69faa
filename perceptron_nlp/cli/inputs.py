"""The files of a command line: checked and opened, and models saved."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp.cli.terminal import Progress, say
from perceptron_nlp.formats import check_format
from perceptron_nlp.tagger.tagger import is_model_name

STDIN = "-"
_NAMED_ONE_BY_ONE = 8
# Seconds between two drawings of the same line.
_BETWEEN_LINES = 0.1


def open_inputs(
    chosen: argparse.Namespace,
    paths: Sequence[str],
    model: pn.TaggerModel | None = None,
    progress: ReadProgress | None = None,
) -> list[pn.Corpus]:
    """Open files as the options say, and print on standard error what they are read as."""
    quiet = chosen.quiet
    check_format(chosen.format)
    check_stdin(paths, quiet=quiet)
    corpora = []
    for path in paths:
        # Files whose reading is counted stay open.
        is_counted = progress is not None and len(paths) <= _NAMED_ONE_BY_ONE
        source = progress.opened(path) if progress is not None and is_counted else path
        corpus = pn.open_corpus(source, format=chosen.format, fields=chosen.fields)
        # A system allows only so many open files; a pipe could not be opened again.
        if path != STDIN and os.path.isfile(path):
            if source is path:
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


class ReadProgress(Progress):
    """Shows how much of some files is read, and the time left.

    Nothing is shown if one of them is no file: of a pipe nobody knows the length.
    """

    def __init__(self, paths: Sequence[str], *, quiet: bool) -> None:
        are_files = STDIN not in paths and all(map(os.path.isfile, paths))
        super().__init__("read", " MB", 10**6, quiet=quiet or not are_files)
        self._total = 0 if self.is_quiet else sum(map(os.path.getsize, paths))
        self._done = 0
        self._next = self._start + _BETWEEN_LINES
        self._files: list[io.FileIO] = []

    def opened(self, path: str) -> str | io.FileIO:
        """Return a file whose reading is counted; the path if nothing is shown."""
        if self.is_quiet:
            return path
        self._files.append(_CountedFile(path, self._read))
        return self._files[-1]

    def __enter__(self) -> ReadProgress:
        return self

    def __exit__(self, *error: object) -> None:
        """Erase the line and close the files."""
        super().__exit__(*error)
        for file in self._files:
            file.close()

    def _read(self, count: int) -> None:
        self._done += count
        if self._clock() >= self._next:
            self(self._done, self._total)
            self._next = self._clock() + _BETWEEN_LINES


class _CountedFile(io.FileIO):
    """A file that calls a function with the number of bytes of each reading."""

    def __init__(self, path: str, tell: Callable[[int], object]) -> None:
        super().__init__(path)
        self._tell = tell

    def read(self, size: int | None = -1, /) -> Any:
        data = super().read(size)
        self._tell(len(data or b""))
        return data

    def readinto(self, buffer: Any, /) -> Any:
        count = super().readinto(buffer)
        self._tell(count or 0)
        return count


def load_tagger(
    model: str,
    lexicon: str | None,
    *,
    column: str | None = None,
    mmap: bool = False,
    cache_size: int | str | None = None,
    abbreviations: str | None = None,
    wrapped: bool = False,
) -> pn.Tagger:
    """Load the tagger of a model file, constrained by a lexicon if there is one."""
    tagger = pn.load(model, mmap=mmap, cache_size=cache_size)
    if abbreviations is not None or wrapped:
        tagger = tagger.with_cutting(abbreviations=abbreviations, wrapped=wrapped or None)
    if lexicon is None:
        return tagger
    named = "" if column is None else column.strip()
    return tagger.with_lexicon(lexicon, column=named if named in tagger.columns else None)


def taggers_of(
    tagger: pn.Tagger, column: str | None, named: Callable[[str], str] = str
) -> dict[str, pn.Tagger]:
    """Return the tagger of each column to fill.

    The column is None for all that the tagger learned; else, for a tagger of one column, the name
    or number of the column to fill instead, and for one of several those to fill, separated by
    commas; `named` gives their names. ``text`` stands for none. Raises ArgumentError if the tagger
    cannot fill these.
    """
    taggers = tagger.by_column
    if column is None:
        return taggers
    if column.strip() == "text":
        return {}
    names = [name.strip() for name in column.split(",")]
    if not taggers:
        tagger.labelers.check_tags()
    if len(taggers) == 1:
        if len(names) > 1 or not names[0]:
            raise pn.ArgumentError(f"column: this model fills one only, not {len(names)}; name one")
        return {named(names[0]): tagger}
    names = [named(name) for name in names]
    for name in names:
        if name not in taggers:
            raise pn.ArgumentError(
                f"column: the model does not fill {name}; it fills {', '.join(taggers)}"
            )
    return {name: taggers[name] for name in taggers if name in names}


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
        if path != STDIN and not os.path.lexists(path) and not is_model_name(path):
            hint = "; text that is in no file is piped in: echo … | perceptron-nlp …"
            hint = hint if len(path.split()) > 1 else ""
            raise pn.FileError(f"{path or repr(path)}: there is no such file{hint}")


def are_same(path: str, other: str) -> bool:
    """Return True if two paths lead to the same file."""
    return os.path.isfile(path) and os.path.isfile(other) and os.path.samefile(path, other)


def check_apart(path: str, others: Iterable[str], what: str) -> None:
    """Raise FileError if writing to `path` would overwrite one of the other files."""
    for other in others:
        if are_same(path, other):
            raise pn.FileError(f"{path}: is {what}, and would be overwritten; name another file")


def take_fields(corpus: pn.Corpus, model: pn.TaggerModel, *, quiet: bool) -> None:
    """Name the columns of a text as those that a model was trained on, and print them."""
    if corpus.take_fields(model.fields) and not quiet:
        say(f"{corpus.path}: --fields {','.join(model.fields)}, as the model was trained with")


def name_format(corpus: pn.Corpus) -> None:
    """Print the format that a text is read as."""
    say(f"{corpus.path}: read as {corpus.format}")


def take_segmenter(corpus: pn.Corpus, tagger: pn.Tagger, *, quiet: bool) -> None:
    """Have running text cut by a tagger; say so if it never learned to."""
    if corpus.format in ("text", "jsonl"):
        corpus.cut_by(tagger.segmenter.sentences_in)
        if tagger.model.segmentation is None and not quiet:
            say(f"{corpus.path}: cut into tokens as in English; train --column all learns others")


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


def check_model_place(
    path: str,
    inputs: Iterable[str],
    what: str = "one of the training files",
    option: str = "--model",
) -> None:
    """Raise FileError if no model can be saved, before hours of work and not after them."""
    if path == STDIN:
        raise pn.FileError(f"{option}: a model is not written to standard output; name a file")
    check_apart(path, inputs, what)
    pn.check_place(path)


def save_model(tagger: pn.Tagger, path: str) -> None:
    """Save a model; raise FileError if that fails, also for a pipe without a reader."""
    try:
        tagger.save(path)
    except BrokenPipeError as error:
        raise pn.FileError(f"{path}: cannot be written: {error.strerror}") from error
