"""A folder of files that becomes another one: what is to be done, and what was done before."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import perceptron_nlp as pn
from perceptron_nlp.errors import ArgumentError, FileError, quote
from perceptron_nlp.formats import read_file_bytes

ENDINGS = (".parquet", ".conllu", ".conllu.gz", ".conllu.bz2", ".conllu.xz")
RECORD = ".perceptron-nlp.json"
FORMAT = "perceptron_nlp folder"


class FolderPlan:
    """Which files of a folder become which of another.

    An output is there whole or not at all, so what is there is done: begun again, the work goes on
    with the rest. A record in the folder of outputs tells of what they were made.

    Parameters
    ----------
    source : the folder of inputs; those in folders inside it are taken, too
    target : the folder of outputs, which is made
    made_with : what decides the outputs, by name

    Attributes
    ----------
    todo : pairs of input and output, in the order of their names
    n_done : how many were done before

    Raises
    ------
    FileError : there is no such folder, no input in it, or the folder of outputs has files of
        another origin, or is inside the other; or one inside it cannot be read
    ArgumentError : two inputs have the same output, or outputs were made with something else
    """

    def __init__(self, source: str, target: str, made_with: Mapping[str, object]) -> None:
        self._source, self._target = Path(source), Path(target)
        if not self._source.is_dir():
            raise FileError(
                f"{source}: there is no such folder; name one of Parquet or CoNLL-U files"
            )
        if os.path.realpath(target) == os.path.realpath(source):
            raise FileError(
                f"{target}: is the folder of inputs itself; name another one for the outputs"
            )
        if os.path.realpath(target).startswith(os.path.join(os.path.realpath(source), "")):
            raise FileError(
                f"{target}: is inside of {source}, so its files would be tagged in"
                " their turn; name another folder"
            )
        pairs = self._pairs()
        self._take_over(json.loads(json.dumps({"record": FORMAT, **made_with})))
        self.todo = [(read, written) for read, written in pairs if not _is_done(read, written)]
        self.n_done = len(pairs) - len(self.todo)
        for _, written in self.todo:
            _make(Path(written).parent)

    def _pairs(self) -> list[tuple[str, str]]:
        found: dict[str, str] = {}
        for path in sorted(_files(self._source)):
            ending = next((e for e in reversed(ENDINGS) if path.name.endswith(e)), None)
            if ending is None or path.name.startswith("."):
                continue
            name = str(path.relative_to(self._source))
            if ending.startswith(".conllu"):
                name = name.removesuffix(ending) + ".conllu"
            written = str(self._target / name)
            if written in found:
                raise ArgumentError(
                    f"{path}: would become {written}, and so would"
                    f" {found[written]}; rename one of them"
                )
            found[written] = str(path)
        if not found:
            raise FileError(f"{self._source}: has no file that ends in {', '.join(ENDINGS)}")
        return [(read, written) for written, read in found.items()]

    def _take_over(self, made_with: dict[str, object]) -> None:
        """Make the folder, or make sure that what is in it was begun alike."""
        if not os.path.lexists(self._target):
            _make(self._target)
        elif not self._target.is_dir():
            raise FileError(f"{self._target}: is a file; name a folder for the outputs")
        record = self._target / RECORD
        if record.is_file():
            _compare(record, made_with)
            return
        if any(self._target.iterdir()):
            raise FileError(
                f"{self._target}: is a folder that has other files already; name a new"
                " one, or an empty one"
            )
        pn.replace_file(record, (json.dumps(made_with, indent=2, sort_keys=True) + "\n").encode())


def _files(folder: Path) -> Iterator[Path]:
    """All files in a folder and in those inside it; links to nothing, too, which are not to be
    passed over in silence."""

    def refuse(error: OSError) -> None:
        raise FileError(f"{error.filename}: cannot be read: {error.strerror}") from error

    for place, _, names in os.walk(folder, onerror=refuse):
        for path in (Path(place, name) for name in names):
            if os.path.isfile(path) or not os.path.exists(path):
                yield path


def _compare(record: Path, made_with: dict[str, object]) -> None:
    try:
        before = json.loads(bytes(read_file_bytes(record)))
    except (ValueError, RecursionError):
        before = None
    if not isinstance(before, dict) or before.get("record") != FORMAT:
        raise FileError(f"{record}: is not the record of tagged files; name a new folder")
    for name in {**made_with, **before}:
        if before.get(name) != made_with.get(name):
            raise ArgumentError(
                f"{name}: the files in {record.parent} were made with"
                f" {quote(before.get(name))}, not {quote(made_with.get(name))}; name a new folder"
            )


def _is_done(read: str, written: str) -> bool:
    """Is the output there, and not older than the input?"""
    try:
        return os.path.isfile(written) and os.stat(written).st_mtime_ns >= os.stat(read).st_mtime_ns
    except OSError:
        # An input that is not there is for a worker to complain of.
        return False


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}: cannot be made: {error.strerror}") from error
