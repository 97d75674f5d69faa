"""Replacing a file whole or not at all.

The new bytes go to a temporary file in the folder of the target, are synced, and take
the target's name in one step; then the folder is synced.  Whoever looks finds the whole
old file or the whole new one, even after a kill or a loss of power.

A killed run leaves its temporary file behind.  Its name is made from the target's name,
and it was locked while its writer lived, so the next run for the same target finds the
ones without an owner and removes them: there is never more than one left.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from io import FileIO

from perceptron_nlp._core.features.hashing import hash64
from perceptron_nlp.errors import ArgumentTypeError, FileError

if sys.platform != "win32":
    import fcntl

_DIRECT_PLACES = ("/dev/", "/proc/")
_BLOCK = 1 << 17
# Bytes by one call.  macOS refuses 2 GiB.
_MOST = 1 << 30


def replace_file(path: str | os.PathLike[str], data: bytes | Iterable[bytes | memoryview]) -> None:
    """Makes ``data`` the content of ``path``, whole or not at all.

    A symbolic link stays and its target is replaced; permission bits stay.  A device, a
    pipe, and anything under ``/dev`` is simply written to.  If ``data`` is an iterable
    that raises, the old file is untouched and the exception goes on to the caller.

    Raises
    ------
    ArgumentTypeError : ``path`` is not a path
    FileError : the place cannot be written (a folder, read-only, no such folder, disk full)
    BrokenPipeError : ``path`` is a pipe whose reader went away
    """
    chunks: Iterable[bytes | memoryview] = (data,) if isinstance(data, (bytes, bytearray)) else data
    name = _name_of(path)
    mode = _mode_of(name)
    if name.startswith(_DIRECT_PLACES) or (mode is not None and not stat.S_ISREG(mode)):
        _write_directly(name, chunks)
        return
    target = os.path.realpath(name)
    effective = os.access in os.supports_effective_ids
    if mode is not None and not os.access(target, os.W_OK, effective_ids=effective):
        raise FileError(f"{name}: is read-only")
    _remove_ownerless(target)
    with _temporary(target, name) as (temporary, handle):
        _write_blocks(handle, name, chunks)
        with _writing(name):
            if mode is not None:
                os.chmod(temporary, stat.S_IMODE(mode))
            os.fsync(handle.fileno())
            if sys.platform == "win32":
                handle.close()
            os.replace(temporary, target)
    _sync_folder(os.path.dirname(target))


def check_place(path: str | os.PathLike[str]) -> None:
    """Raises FileError where `replace_file` could not write now; leaves nothing behind.

    For work that takes long: better to hear it before than after.
    """
    name = _name_of(path)
    mode = _mode_of(name)
    if name.startswith(_DIRECT_PLACES) or (mode is not None and not stat.S_ISREG(mode)):
        return
    target = os.path.realpath(name)
    if mode is not None and not os.access(target, os.W_OK):
        raise FileError(f"{name}: is read-only")
    with _temporary(target, name) as (temporary, handle):
        handle.close()
        os.unlink(temporary)


@contextlib.contextmanager
def _writing(name: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise FileError(f"{name}: cannot be written: {error.strerror}") from error


def _name_of(path: str | os.PathLike[str]) -> str:
    name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(name, str):
        raise ArgumentTypeError(f"path: a str or path is needed, not {type(path).__name__}")
    return name


def _mode_of(name: str) -> int | None:
    if not name:
        raise FileError("'': cannot be the name of a file: it is empty")
    try:
        mode = os.stat(name).st_mode
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise FileError(f"{name!r}: cannot be the name of a file: {error}") from error
    except OSError as error:
        raise FileError(f"{name}: cannot be written: {error.strerror}") from error
    if stat.S_ISDIR(mode):
        raise FileError(f"{name}: is a folder; name a file")
    return mode


def _write_directly(name: str, chunks: Iterable[bytes | memoryview]) -> None:
    with _writing(name):
        handle = open(name, "wb", buffering=0)  # noqa: SIM115 - closed below
    with handle:
        for chunk in chunks:
            _write_all(handle, name, [chunk])


def _write_blocks(handle: FileIO, name: str, chunks: Iterable[bytes | memoryview]) -> None:
    """Writes so that each write begins and ends where a block does; the last one may end within.

    Systems hold a file in pages of any size that fit where a write begins, and few large ones cost
    less than many small ones.
    """
    held = bytearray()
    for chunk in chunks:
        with memoryview(chunk) as given, given.cast("B") as view:
            whole = (len(held) + len(view)) // _BLOCK * _BLOCK - len(held)
            if whole <= 0:
                held += view
                continue
            _write_all(handle, name, [held, view[:whole]])
            held = bytearray(view[whole:])
    _write_all(handle, name, [held])


def _write_all(handle: FileIO, name: str, parts: Iterable[bytes | bytearray | memoryview]) -> None:
    rest = [view for part in parts if len(view := memoryview(part).cast("B"))]
    while rest:
        with _writing(name):
            # Windows has no writev; `write` may write a part only.
            written = (
                os.writev(handle.fileno(), rest)
                if (hasattr(os, "writev") and sum(map(len, rest)) <= _MOST)
                else handle.write(rest[0])
            )
        while rest and written >= len(rest[0]):
            written -= len(rest.pop(0))
        if written:
            rest[0] = rest[0][written:]


def _prefix(target: str) -> str:
    # A hash, because the target's own name may already be as long as names can be.
    return f".perceptron-nlp-{hash64(os.fsencode(os.path.basename(target))):016x}-"


@contextlib.contextmanager
def _temporary(target: str, name: str) -> Iterator[tuple[str, FileIO]]:
    with _writing(name):
        temporary, handle = _create(target)
    with handle:
        try:
            yield temporary, handle
        except BaseException:
            # Windows cannot remove an open file; closing may fail for what failed above.
            with contextlib.suppress(OSError):
                handle.close()
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise


def _create(target: str) -> tuple[str, FileIO]:
    """A new temporary file that this process owns, by lock where there are locks."""
    for number in itertools.count():
        temporary = os.path.join(
            os.path.dirname(target), f"{_prefix(target)}{os.getpid()}-{number}.part"
        )
        try:
            handle = open(temporary, "xb", buffering=0)  # noqa: SIM115 - the caller closes it
        except FileExistsError:
            continue
        # Between creation and lock another run may have taken the file for ownerless.
        if _lock(handle) and _still_there(temporary, handle):
            return temporary, handle
        handle.close()
    raise AssertionError("unreachable")


def _lock(handle: FileIO) -> bool:
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        # A file system without locks: go on without; others cannot lock it either.
        return error.errno not in (errno.EWOULDBLOCK, errno.EACCES)
    return True


def _still_there(temporary: str, handle: FileIO) -> bool:
    try:
        return os.path.samestat(os.stat(temporary), os.fstat(handle.fileno()))
    except FileNotFoundError:
        return False


def _remove_ownerless(target: str) -> None:
    with contextlib.suppress(OSError):
        for entry in os.scandir(os.path.dirname(target)):
            if entry.name.startswith(_prefix(target)) and entry.name.endswith(".part"):
                with contextlib.suppress(OSError):
                    _remove_if_ownerless(entry.path)


def _remove_if_ownerless(path: str) -> None:
    if sys.platform == "win32":
        os.unlink(path)  # fails for a file that is open
        return
    with open(path, "rb") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(path)


def _sync_folder(folder: str) -> None:
    # Not every system can sync a folder; the file itself is already in place.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
