"""Text on its way into a file whose name says that it is packed."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from perceptron_nlp.errors import FileError

_GZIP_HEADER = 16


class _Packer(Protocol):
    def compress(self, data: bytes | memoryview, /) -> bytes: ...

    def flush(self) -> bytes: ...


def _gzip() -> _Packer:
    return zlib.compressobj(wbits=zlib.MAX_WBITS + _GZIP_HEADER)


def _bzip2() -> _Packer:
    # Here and below: programs that pack nothing start without it.
    import bz2

    return bz2.BZ2Compressor()


def _xz() -> _Packer:
    import lzma

    return lzma.LZMACompressor()


_PACKERS: dict[str, Callable[[], _Packer]] = {".gz": _gzip, ".bz2": _bzip2, ".xz": _xz}


def packed(
    path: str | os.PathLike[str], chunks: Iterable[bytes | memoryview]
) -> Iterable[bytes | memoryview]:
    """What is written to ``path``: packed where its name ends in .gz, .bz2 or .xz, else as it is.

    The reader takes files by what their names promise, so others could not be read again.

    Raises FileError for .zst, which only the reader knows.
    """
    suffix = (
        os.path.splitext(os.fspath(path))[1].lower() if isinstance(path, (str, os.PathLike)) else ""
    )
    if suffix == ".zst":
        raise FileError(f"{os.fspath(path)}: zstd is not written; name a file in .gz, .bz2 or .xz")
    return _pack(_PACKERS[suffix](), chunks) if suffix in _PACKERS else chunks


def _pack(packer: _Packer, chunks: Iterable[bytes | memoryview]) -> Iterator[bytes]:
    for chunk in chunks:
        yield packer.compress(chunk)
    yield packer.flush()
