"""Numbers kept on disc instead of in memory, in a temporary file that has no name."""

from __future__ import annotations

import errno
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_nlp.errors import ArgumentError, FileError
from perceptron_nlp.tagger.train.memorylimit import MemoryLimit

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

_WIDTH = 4


class StoredNumbers:
    """A sequence of int32 that grows at its end, read piece by piece.

    The file is in the folder for temporary files (``TMPDIR``). It loses its name as soon as it is
    made, so the system frees it however the process ends.

    Parameters
    ----------
    limit : is checked at every reading and writing

    Raises
    ------
    FileError : no temporary file can be made, written or read
    """

    def __init__(self, limit: MemoryLimit) -> None:
        import tempfile  # here, since most trainings do without

        self._limit = limit
        self._length = 0
        try:
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        except OSError as error:
            raise _failed("made", error) from error
        weakref.finalize(self, self._file.close)

    def __len__(self) -> int:
        return self._length

    def append(self, numbers: npt.NDArray[Any]) -> None:
        """Add numbers at the end.

        Raises FileError where the disc is full, and MemoryLimitError.
        """
        data = np.ascontiguousarray(numbers, np.int32).reshape(-1).view(np.uint8).data
        done = 0
        try:
            self._file.seek(self._length * _WIDTH)
            while done < len(data):
                done += self._file.write(data[done:]) or 0
        except OSError as error:
            raise _failed("written", error) from error
        self._length += len(data) // _WIDTH
        self._limit.check()

    def take(self, starts: Int64s, sizes: Int64s) -> Int32s:
        """Some runs of the numbers, one after the other: where each begins, how long it is.

        Raises FileError where they cannot be read, and MemoryLimitError.
        """
        found = np.empty(int(sizes.sum()), np.int32)
        if len(found):
            self._read(found.view(np.uint8).data, starts, sizes)
        self._limit.check()
        return found

    def _read(self, into: memoryview, starts: Int64s, sizes: Int64s) -> None:
        at = 0
        seek, read = self._file.seek, self._file.readinto
        try:
            for start, size in zip(
                (starts * _WIDTH).tolist(), (sizes * _WIDTH).tolist(), strict=True
            ):
                seek(start)
                end = at + size
                while at < end:
                    n_bytes = read(into[at:end])
                    if not n_bytes:
                        raise OSError(errno.EIO, "it was cut short")
                    at += n_bytes
        except OSError as error:
            raise _failed("read", error) from error

    def __getitem__(self, places: slice | Int64s) -> Int32s:
        """The numbers of a slice without step, or at places, of which runs are read at once."""
        if isinstance(places, slice):
            start, stop, _ = places.indices(self._length)
            return self.take(np.array([start]), np.array([max(0, stop - start)]))
        starts = np.flatnonzero(np.diff(places, prepend=-2) != 1)
        return self.take(places[starts], np.diff(starts, append=len(places)))

    def tolist(self) -> list[int]:
        """Never all at once: raises ArgumentError."""
        raise whole_text_needed(self._limit.option)


def whole_text_needed(option: str = "max_memory") -> ArgumentError:
    """What is raised where something looks at whole sentences, which are not in memory.

    Parameters
    ----------
    option : that for the sake of which they are not
    """
    return ArgumentError(
        f"{option}: what is learnt here looks at whole sentences, not at one word after the other:"
        " columns of spans (unless beam=1) and of features (unless beam=2), raw and lexicon,"
        f" templates that look at a word's other places; leave {option} out"
    )


def _failed(what: str, error: OSError) -> FileError:
    import tempfile

    folder = tempfile.tempdir or "TMPDIR"
    return FileError(
        f"{folder}: the temporary file for max_memory cannot be {what}: {error.strerror};"
        " set TMPDIR to a folder on a disc with more room"
    )
