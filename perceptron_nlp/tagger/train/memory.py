"""A bound on memory: what holds for all tokens of the training text lies in temporary files.

These arrays are mapped into memory. The system frees the pages of such files when it needs room,
and so does the bound, before it reports that it is passed.
"""

from __future__ import annotations

import mmap
import os
import sys
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from io import FileIO

import numpy as np
import numpy.typing as npt

from perceptron_nlp._checks import parse_size
from perceptron_nlp._core.table.weights import WeightTable
from perceptron_nlp.errors import ArgumentError, FileError, MemoryLimitError

Int32s = npt.NDArray[np.int32]

# Bytes of zeros that are written at a time.
_ZEROS = 1 << 20
# What reading needs at a time: a piece of text, its numbers, and the library's own pages.
ROOM = 24 << 20
# What averaging, rounding and sorting the weights take at the end. With rows of all labels it
# depends on how many of a row's labels have a weight, mostly few: so many bytes for a feature, for
# one that has learned something, and for each label, half as much again as was measured with 5 and
# with 17 labels. With others it is a share of the table, of which 0.7 to 1.14 were measured. Four
# runs, which are summed, took 1.4 where one took 0.5.
FEATURE_BYTES, ROW_BYTES, LABEL_BYTES, USUAL_LABELS = 20, 80, 45, 4
CELL_SHARE, SHARE_OF_RUN = 1.25, 0.5


class MemoryLimit:
    """A bound on the resident memory of this process, looked at while it reads and learns.

    `size` is in bytes, or text such as ``"500MB"``: at least what the process has already and some
    room to read into; `option` asked for it. Raises MemoryLimitError if it is too small for any
    training; ArgumentError, ArgumentTypeError if it is no size, or the system does not tell what a
    process holds.
    """

    option = "max_memory"

    def __init__(self, size: int | str) -> None:
        self._size = size = parse_size(size, self.option)
        self._table: WeightTable | None = None
        self._runs = 1.0
        self._mapped: list[weakref.ref[mmap.mmap]] = []
        held = resident()
        if held is None:
            raise ArgumentError(
                "max_memory: this system does not tell how much memory a process"
                " holds; leave max_memory out"
            )
        if size < held + ROOM:
            raise MemoryLimitError(
                f"max_memory: {_megabytes(size)} are too few: this process holds"
                f" {_megabytes(held)} before it has read anything, and reading needs"
                f" {_megabytes(ROOM)}; allow at least {_megabytes(held + ROOM)}"
            )

    def watch(self, table: WeightTable, *, runs: int) -> None:
        """Leave room from now on for a model of so many tables, learned one after the other."""
        self._table = table
        self._runs = 1 + SHARE_OF_RUN * (runs - 1)

    def _needed(self) -> int:
        """Bytes that making a model will take."""
        if self._table is None:
            return 0
        rows, n = self._table.rows_learnt, self._table.n_labels
        needed = (
            CELL_SHARE * self._table.bytes_used
            if rows is None
            else self._table.n_rows * FEATURE_BYTES
            + rows * (ROW_BYTES + LABEL_BYTES * min(n, USUAL_LABELS))
        )
        return int(self._runs * needed)

    def check(self) -> None:
        """Raise MemoryLimitError where what is held, and what the model will need, are too much."""
        held, needed = resident() or 0, self._needed()
        if held + needed > self._size:
            self._let_go()
            held = resident() or 0
        if held + needed <= self._size:
            return
        making = (
            f", and making a model of what it has learned takes up to {_megabytes(needed)} more"
            if needed
            else ""
        )
        raise MemoryLimitError(
            f"max_memory: {_megabytes(self._size)} are too few: this process holds"
            f" {_megabytes(held)}{making}. Sentences are kept on disk, but distinct words, features"
            ' and their weights in memory: set table_bits or preset="fast", which have fewer, or'
            " allow more"
        )

    def _let_go(self) -> None:
        """Free the memory of all pages of files; what is in the files stays."""
        self._mapped = [reference for reference in self._mapped if reference() is not None]
        for reference in self._mapped:
            found = reference()
            if found is not None and hasattr(mmap, "MADV_DONTNEED"):
                found.madvise(mmap.MADV_DONTNEED)

    def file(self) -> FileIO:
        """Return a temporary file without a name, which the system frees however the process ends.

        It is in the folder for temporary files (``TMPDIR``). Raises FileError if it cannot be made.
        """
        try:
            file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        except OSError as error:
            raise _failed("made", error) from error
        weakref.finalize(self, file.close)
        return file

    def write(self, file: FileIO, numbers: Int32s) -> None:
        """Write numbers at the end of a file; raise FileError if there is no room for them."""
        _write(file, np.ascontiguousarray(numbers, np.int32).view(np.uint8).data)
        self.check()

    def mapped(self, file: FileIO) -> Int32s:
        """Return the numbers in a file, which is closed, as an array that may be written to."""
        with file:
            size = os.fstat(file.fileno()).st_size
            if not size:
                return np.empty(0, np.int32)
            found = mmap.mmap(file.fileno(), size)
        self._mapped.append(weakref.ref(found))
        return np.frombuffer(found, np.int32)

    def empty(self, n: int) -> Int32s:
        """Return int32[n] of zeros in a temporary file; raise FileError if there is no room."""
        file, left = self.file(), 4 * n
        # Written, not just made longer: a disk that is full later on would end the process.
        while left:
            _write(file, memoryview(bytes(min(left, _ZEROS))))
            left -= min(left, _ZEROS)
        return self.mapped(file)


def _write(file: FileIO, data: memoryview) -> None:
    done = 0
    try:
        while done < len(data):
            done += file.write(data[done:]) or 0
    except OSError as error:
        raise _failed("written", error) from error


def check_bounded(columns: Sequence[str], options: Mapping[str, object]) -> None:
    """Raise ArgumentError for columns, or options that are given, that need text in memory."""
    if len(columns) > 1:
        raise ArgumentError(
            "max_memory: one column at a time is learned from text kept on disk,"
            f" not {len(columns)}; train a model for each, or leave max_memory out"
        )
    for name, given in options.items():
        if given:
            raise ArgumentError(
                f"max_memory: {name} needs whole sentences or a second copy of the"
                f" model in memory; leave {name} out, or max_memory"
            )


def resident() -> int | None:
    """Bytes of memory that this process holds; where only the most it ever held is known, that."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        pass
    try:
        import resource
    except ImportError:
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
        1 if sys.platform == "darwin" else 1024
    )


def _megabytes(size: int) -> str:
    return f"{-(-size // 10**6):,} MB"


def _failed(what: str, error: OSError) -> FileError:
    folder = tempfile.tempdir or "TMPDIR"
    return FileError(
        f"{folder}: the temporary file for max_memory cannot be {what}: {error.strerror};"
        " set TMPDIR to a folder on a disk with more room"
    )
