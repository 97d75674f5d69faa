"""Opening what a person names: a path, ``-``, or a binary stream; unpacked if compressed.

Compression (gzip, bzip2, xz, and zstd if Python has ``compression.zstd``) is recognized by its
first bytes, whatever the file is called. A file whose name promises a compression which the bytes
do not keep is an error.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any, BinaryIO, TypeAlias, cast

from perceptron_nlp.errors import ArgumentTypeError, FileError, FormatError, file_error

Readable: TypeAlias = str | os.PathLike[str] | BinaryIO
"""A path, ``-`` for standard input, or an open binary stream."""

BOM = "\ufeff"
STDIN = "-"
DOCUMENT_MARK = "-DOCSTART-"
# "BZh9" may begin a text; what follows it, the mark of a block or of the end, may not.
_MAGIC = {
    "gzip": (b"\x1f\x8b",),
    "bzip2": tuple(
        b"BZh%d%s" % (level, mark)
        for level in range(1, 10)
        for mark in (b"1AY&SY", b"\x17rE8P\x90")
    ),
    "xz": (b"\xfd7zXZ\x00",),
    "zstd": (b"\x28\xb5\x2f\xfd",),
}
_TEXT_CONTROLS = frozenset(b"\t\n\v\f\r\x1b")
_CONTROLS = frozenset(range(32)) - _TEXT_CONTROLS
# A text may hold stray control characters; this many and this share of them is no text.
_BINARY_SHARE = 0.05
_BINARY_LEAST = 3
_FOREIGN = (
    (b"\xff\xfe\0\0", "UTF-32 text; convert it to UTF-8"),
    (b"\xff\xfe", "UTF-16 text; convert it to UTF-8"),
    (b"\xfe\xff", "UTF-16 text; convert it to UTF-8"),
    (b"PK\x03\x04", "a zip file, not text"),
    (b"%PDF-", "a PDF file, not text"),
    (b"\x89PNG", "a picture, not text"),
    (b"\x7fELF", "a program, not text"),
)
# How a file of tensors goes on behind the length of its header, which is below 2^40.
_MODEL = b'\0\0\0{"'
_LONGEST_MAGIC = 10
_FIRST_OF_MAGIC = b"\x1fB\xfd\x28"
_SUFFIX = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}
_GZIP_HEADER = 16
_FIRST_READ = 1 << 12


def name_of(path: Readable) -> str:
    """Return the name of ``path`` in messages: itself, ``<stdin>`` or ``<stream>``."""
    if isinstance(path, (str, os.PathLike)):
        name = os.fspath(path)
        if isinstance(name, str):
            return "<stdin>" if name == STDIN else name
    elif hasattr(path, "read"):
        own = getattr(path, "name", None)
        return own if isinstance(own, str) else "<stream>"
    raise ArgumentTypeError(
        f"path: a str, a path or a binary stream is needed, not {type(path).__name__}"
    )


def named_stream(data: bytes | bytearray, name: str) -> BinaryIO:
    """Return a stream of these bytes that messages call ``name``."""
    return _NamedBytes(data, name)


class _NamedBytes(io.BytesIO):
    def __init__(self, data: bytes | bytearray, name: str) -> None:
        super().__init__(data)
        self.name = name


def plain_name(name: str) -> str:
    """Return a name without the suffix of a compression."""
    stem, suffix = os.path.splitext(name)
    return stem if suffix.lower() in _SUFFIX else name


def is_conllu_name(name: str) -> bool:
    """Return True if the name of a file says that it is CoNLL-U, compressed or not."""
    return plain_name(name).lower().endswith((".conllu", ".conllup"))


def open_bytes(path: Readable) -> OpenBytes:
    """Open ``path`` for reading and unpack it on the way.

    Raises ArgumentTypeError unless it is a path or a stream of bytes; FileError if it is missing, a
    folder, or not readable; FormatError if the name or the first bytes say that it is compressed,
    and it is not, or this Python cannot unpack it.
    """
    name = name_of(path)
    raw, owned = _open_raw(path, name)
    try:
        with reading(name):
            first = _first_bytes(raw, name)
        joined = _Rejoined(first, raw, owned)
        # What somebody unpacks, or a stream in memory, may be called what it was packed.
        is_file = owned or isinstance(getattr(raw, "raw", raw), io.FileIO)
        kind = _compression(name, first, promises=is_file)
        if kind is None:
            return OpenBytes(name, joined, joined)
        return OpenBytes(name, _unpacker(kind, cast(IO[bytes], joined), name), joined)
    except BaseException:
        if owned:
            raw.close()
        raise


def _first_bytes(raw: BinaryIO, name: str) -> bytes:
    """Return enough bytes to know a compression by; a pipe may give them one by one."""
    first = b""
    # What a pipe has now, since read would wait for the full size.
    read: Callable[[int], bytes] = getattr(raw, "read1", raw.read)
    while not first or (first[0] in _FIRST_OF_MAGIC and len(first) < _LONGEST_MAGIC):
        piece = read(_FIRST_READ)
        if isinstance(piece, str):
            raise ArgumentTypeError(f"path: {name} is open as text; open it in binary mode ('rb')")
        if not piece:
            break
        first += piece
    return first


def no_text(head: bytes) -> tuple[int, str] | None:
    """Return the place that tells that a file is no text, and what it is; None for text."""
    for magic, what in _FOREIGN:
        if head.startswith(magic):
            return 0, what
    if head[5:10] == _MODEL:
        return 0, "a model, not text"
    controls = [at for at, byte in enumerate(head) if byte in _CONTROLS]
    if len(controls) > max(_BINARY_LEAST, _BINARY_SHARE * len(head)):
        return controls[0], "a binary file, not text"
    return None


@contextlib.contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn what the system or a decompressor raises into one line that names the file."""
    try:
        yield
    except EOFError as error:
        raise FormatError("the compressed data is cut short", name) from error
    except _damages() as error:
        raise FormatError(f"the compressed data is damaged: {error}", name) from error
    except (FileError, FormatError):
        raise
    except ValueError as error:
        # Of a stream that is closed, or was opened to be written.
        raise FileError(f"{name}: cannot be read: {error}") from error
    except OSError as error:
        if error.errno is None:
            raise FormatError(f"the compressed data is damaged: {error}", name) from error
        raise file_error(name, error, "read") from error


def _damages() -> tuple[type[Exception], ...]:
    """Return what decompressors raise; called when something was raised."""
    # Here and below, since a text that is not compressed does without.
    import gzip
    import lzma
    import zlib

    return zlib.error, lzma.LZMAError, gzip.BadGzipFile


def _open_raw(path: Readable, name: str) -> tuple[BinaryIO, bool]:
    if not isinstance(path, (str, os.PathLike)):
        return path, False
    if os.fspath(path) == STDIN:
        return sys.stdin.buffer, False
    try:
        if not stat.S_ISDIR(os.stat(path).st_mode):
            return open(path, "rb", buffering=0), True
    except (OSError, ValueError) as error:
        raise file_error(name, error, "opened") from error
    raise FileError(f"{name}: is a folder; name the files in it")


def _compression(name: str, first: bytes, *, promises: bool) -> str | None:
    found = next((kind for kind, magic in _MAGIC.items() if first.startswith(magic)), None)
    promised = _SUFFIX.get(os.path.splitext(name)[1].lower())
    if promises and promised is not None and found is None:
        what = "holds no" if first else "is empty; it should hold"
        raise FormatError(f"{what} {promised} data, which its name promises", name)
    return found


def _unpacker(kind: str, packed: IO[bytes], name: str) -> IO[bytes]:
    if kind == "gzip":
        import gzip

        return cast(IO[bytes], gzip.GzipFile(fileobj=packed, mode="rb"))
    if kind == "bzip2":
        import bz2

        return cast(IO[bytes], bz2.BZ2File(packed, "rb"))
    if kind == "xz":
        import lzma

        return cast(IO[bytes], lzma.LZMAFile(packed, "rb"))
    try:
        zstd: Any = importlib.import_module("compression.zstd")
    except ImportError as error:
        raise FormatError(
            "is compressed with zstd, which Python reads from 3.14 on; unpack it first", name
        ) from error
    return cast(IO[bytes], zstd.ZstdFile(packed, "rb"))


class _Rejoined(io.RawIOBase):
    """A stream with the bytes that were read to recognize it put back in front."""

    def __init__(self, first: bytes, rest: BinaryIO, owned: bool) -> None:
        self._first = first
        self._owned = owned
        self._stream = rest
        # read1 hands over what a pipe has now; read would wait for the full size.
        self._read: Callable[[int], bytes] = getattr(rest, "read1", rest.read)
        # Streams of others need not be able to.
        self._into: Any = getattr(rest, "readinto", None) if owned else None

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if self._first and size >= 0:
            piece, self._first = self._first[:size], self._first[size:]
            return piece
        if size < 0:
            return self.readall()
        return self._read(size)

    def waits(self, seconds: float) -> bool:
        if self._first:
            return False
        try:
            # Here, since not every text comes out of a pipe.
            import select

            return not select.select([self._stream], [], [], seconds)[0]
        except (OSError, ValueError, TypeError):
            # No descriptor, or a system where only sockets can be asked.
            return False

    def readinto(self, buffer: Any) -> int:
        if self._into is not None and not self._first:
            return self._into(buffer) or 0
        piece = self.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        try:
            if self._owned:
                self._stream.close()
        finally:
            super().close()


class OpenBytes:
    """Bytes read, with every failure turned into an error of this library."""

    def __init__(self, name: str, stream: IO[bytes] | io.RawIOBase, below: _Rejoined) -> None:
        self._name = name
        self._stream = stream
        self._below = below

    def read(self, size: int, /) -> bytes:
        """Return at most ``size`` bytes as they come; none at the end."""
        with reading(self._name):
            return self._stream.read(size) or b""

    def readinto(self, memory: memoryview, /) -> int:
        """Read into memory that is there already; return how many bytes."""
        with reading(self._name):
            # What IO promises leaves it out; every binary stream has it.
            return cast(io.RawIOBase, self._stream).readinto(memory) or 0

    def waits(self, seconds: float) -> bool:
        """Return True if nothing can be read within this time; False if nobody can tell."""
        # What is unpacked may be there where what is packed is not.
        return self._stream is self._below and self._below.waits(seconds)

    def close(self) -> None:
        """Let go of what this library opened."""
        try:
            self._stream.close()
        finally:
            self._below.close()


def packed(
    path: str | os.PathLike[str], chunks: Iterable[bytes | memoryview]
) -> Iterable[bytes | memoryview]:
    """Return what is written to a file: packed if its name ends in .gz, .bz2 or .xz.

    The reader takes files by what their names promise, so others could not be read again.

    Raises FileError for .zst, which only the reader knows.
    """
    suffix = (
        os.path.splitext(os.fspath(path))[1].lower() if isinstance(path, (str, os.PathLike)) else ""
    )
    if suffix not in _SUFFIX:
        return chunks
    # Here, since programs that pack nothing start without it.
    import bz2
    import lzma
    import zlib

    if suffix == ".gz":
        return _pack(zlib.compressobj(wbits=zlib.MAX_WBITS + _GZIP_HEADER), chunks)
    if suffix == ".bz2":
        return _pack(bz2.BZ2Compressor(), chunks)
    if suffix == ".xz":
        return _pack(lzma.LZMACompressor(), chunks)
    raise FileError(f"{os.fspath(path)}: zstd is not written; name a file in .gz, .bz2 or .xz")


def _pack(packer: Any, chunks: Iterable[bytes | memoryview]) -> Iterator[bytes]:
    for chunk in chunks:
        yield packer.compress(chunk)
    yield packer.flush()
