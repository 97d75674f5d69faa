"""Files written, replaced whole or not at all.

The new bytes go to a temporary file in the folder of the target, are synced, and take the target's
name in one step; then the folder is synced. Whoever looks finds the whole old file or the whole new
one, even after a kill or a loss of power.

What is not a regular file, and what this process has open (``/dev/stdout``, ``/dev/fd/3``), is
simply written to. The system is asked what a path leads to; its spelling decides nothing.

A killed run leaves its temporary file behind. Its name begins with a mark of the target's name, and
it was locked while its writer lived, so the next run of the same user for the same target finds the
ones without an owner and removes them: there is never more than one left.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from io import FileIO
from typing import NamedTuple, TypeAlias

from perceptron_nlp._checks import check_path
from perceptron_nlp._core.features.extract import hash64
from perceptron_nlp.errors import FileError, file_error
from perceptron_nlp.formats.opening import BOM, packed

if sys.platform != "win32":
    import fcntl

Content: TypeAlias = bytes | Iterable[bytes | memoryview]
"""The content of a file, whole or in pieces."""

TEMPORARY = ".perceptron-nlp-"
"""What the names of temporary files begin with."""

_DESCRIPTOR = r"0|[1-9][0-9]{0,8}"
_MOST_LINKS = 40  # as many as Linux follows
_BLOCK = 1 << 17
_MOST = 1 << 30  # bytes by one call; macOS refuses 2 GiB
_PRIVATE, _AS_THE_USER_LIKES = 0o600, 0o666
_RANDOM_BYTES = 16


def replace_file(path: str | os.PathLike[str], data: Content) -> None:
    """Make ``data`` the content of ``path``, whole or not at all.

    A symbolic link stays and its target is replaced. Permission bits stay, and nobody else can read
    the file while it is written. Owner and group stay if this process may give them; if not, the
    new group may do what everybody may. A device, a pipe and a descriptor that is open
    (``/dev/stdout``, ``/dev/fd/3``) are simply written to. If ``data`` is an iterable that raises,
    the old file is untouched and the exception goes on to the caller.

    Raises
    ------
    ArgumentTypeError : ``path`` is not a path
    FileError : the place cannot be written (a folder, read-only, no such folder, disk full)
    BrokenPipeError : ``path`` is a pipe whose reader went away
    """
    replace_files([(path, data)])


def replace_files(contents: Iterable[tuple[str | os.PathLike[str], Content]]) -> None:
    """Replace files as `replace_file` does, none before the contents of all are on disk.

    Raises as `replace_file`.
    """
    with contextlib.ExitStack() as stack:
        complete = []
        for path, data in contents:
            name = _name_of(path)
            chunks = (data,) if isinstance(data, bytes | bytearray) else data
            place = _place_of(name)
            if not isinstance(place, _Place):
                _write_directly(place, name, chunks)
                continue
            _remove_ownerless(place.target)
            temporary, handle = stack.enter_context(_temporary(place, name))
            _write_blocks(handle, name, chunks)
            with _writing(name):
                _restore_mode(handle, temporary, place.old)
                os.fsync(handle.fileno())
            complete.append((name, temporary, handle, place.target))
        for name, temporary, handle, target in complete:
            with _writing(name):
                if sys.platform == "win32":
                    handle.close()
                os.replace(temporary, target)
    for folder in {os.path.dirname(target) for *_, target in complete}:
        _sync_folder(folder)


def write_texts(texts: Iterable[str], path: str | os.PathLike[str]) -> None:
    """Replace a file by texts as UTF-8, packed if its name says so. Raises as `replace_file`."""
    replace_file(path, packed(path, (text.encode("utf-8") for text in texts)))


def joined_lines(texts: Iterable[str], *, empty_line: bool = False) -> Iterator[str]:
    """Yield texts of sentences with a line break after each that lacks one, but not the last."""
    previous = ""
    for text in texts:
        if previous:
            # A byte order mark may only begin a file.
            text = text.removeprefix(BOM)
            line_break = "\r\n" if "\r\n" in previous else "\n"
            if not previous.endswith("\n"):
                yield line_break
            if empty_line and not previous.endswith(("\n\n", "\n\r\n")):
                yield line_break
        yield text
        previous = text


def check_place(path: str | os.PathLike[str]) -> None:
    """Raise FileError if `replace_file` could not write now; leave nothing behind.

    For work that takes long: better to hear it before than after.
    """
    name = _name_of(path)
    place = _place_of(name)
    if isinstance(place, _Place):
        with _temporary(place, name):
            pass


class _Place(NamedTuple):
    """The path of a regular file and its state, None if it is still to be made."""

    target: str
    old: os.stat_result | None


def _place_of(name: str) -> _Place | int | None:
    """Return the regular file, the open descriptor, or None: a device or pipe."""
    if not name:
        raise FileError("'': cannot be the name of a file: it is empty")
    try:
        descriptor = _open_descriptor(name)
        old = os.stat(name) if descriptor is None else os.fstat(descriptor)
    except FileNotFoundError:
        return _Place(os.path.realpath(name), None)
    except (OSError, ValueError) as error:
        raise file_error(name, error, "written") from error
    if stat.S_ISDIR(old.st_mode):
        raise FileError(f"{name}: is a folder; name a file")
    if descriptor is not None or not stat.S_ISREG(old.st_mode):
        return descriptor
    target = os.path.realpath(name)
    if not os.path.lexists(target):
        raise FileError(f"{name}: is open in another process, but has no name; name a file")
    effective = os.access in os.supports_effective_ids
    if not os.access(target, os.W_OK, effective_ids=effective):
        raise FileError(f"{name}: is read-only")
    return _Place(target, old)


def _open_descriptor(name: str) -> int | None:
    """Return the descriptor of this process that a path leads to, over links as well.

    To replace the file behind one would take it from whoever shares it, as in ``>> log``.
    """
    for _ in range(_MOST_LINKS):
        folder, last = os.path.split(name)
        with contextlib.suppress(OSError):
            if re.fullmatch(_DESCRIPTOR, last) and os.path.samefile(folder, "/dev/fd"):
                return int(last)
        try:
            name = os.path.join(folder, os.readlink(name))
        except OSError:
            break
    return None


@contextlib.contextmanager
def _writing(name: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise file_error(name, error, "written") from error


def _name_of(path: str | os.PathLike[str]) -> str:
    check_path("path", path)
    return os.fspath(path)


def _write_directly(
    descriptor: int | None, name: str, chunks: Iterable[bytes | memoryview]
) -> None:
    with _writing(name):
        # Never cut: another process may put a regular file in the place of a pipe meanwhile.
        handle = FileIO(
            # Windows would write another line end for each line feed.
            os.open(name, os.O_WRONLY | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0))
            if descriptor is None
            else os.dup(descriptor),
            "wb",
        )
    with handle:
        if descriptor is None and stat.S_ISREG(os.fstat(handle.fileno()).st_mode):
            raise FileError(f"{name}: became a regular file while it was opened; try again")
        for chunk in chunks:
            _write_all(handle, name, [chunk])


def _write_blocks(handle: FileIO, name: str, chunks: Iterable[bytes | memoryview]) -> None:
    """Write so that each write begins and ends where a block does; the last may end within.

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


@contextlib.contextmanager
def _temporary(place: _Place, name: str) -> Iterator[tuple[str, FileIO]]:
    """Make a file next to the target, owned by lock if there are locks, gone at the end."""
    mode = _AS_THE_USER_LIKES if place.old is None else _PRIVATE

    def opener(path: str, flags: int) -> int:
        return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), mode)

    while True:
        # Nobody can guess it, and O_EXCL opens nothing that is there.
        temporary = f"{_prefix(place.target)}{os.urandom(_RANDOM_BYTES).hex()}.part"
        opened: list[FileIO] = []
        try:
            with _writing(name):
                # Kept by the call that opens it: a signal between the two would leave it open.
                opened.extend(map(partial(FileIO, mode="xb", opener=opener), [temporary]))
            # Between creation and lock another run may have taken the file for ownerless.
            if _lock(opened[0]) and _still_there(temporary, opened[0]):
                yield temporary, opened[0]
                return
        finally:
            # Windows cannot remove an open file; closing may fail for what failed above.
            with contextlib.suppress(OSError, IndexError):
                opened[0].close()
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _prefix(target: str) -> str:
    folder, name = os.path.split(target)
    # A hash, because the target's own name may already be as long as names can be.
    return os.path.join(folder, f"{TEMPORARY}{hash64(os.fsencode(name)):016x}-")


def _restore_mode(handle: FileIO, temporary: str, old: os.stat_result | None) -> None:
    if old is None:
        return
    mode = stat.S_IMODE(old.st_mode)
    new = os.fstat(handle.fileno())
    if sys.platform != "win32" and (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.fchown(handle.fileno(), old.st_uid, old.st_gid)
        except OSError:
            mode &= ~(stat.S_ISUID | stat.S_ISGID)
            try:
                os.fchown(handle.fileno(), -1, old.st_gid)
            except OSError:
                mode = mode & ~stat.S_IRWXG | (mode & stat.S_IRWXO) << 3
    os.chmod(handle.fileno() if os.chmod in os.supports_fd else temporary, mode)


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
    prefix = os.path.basename(_prefix(target))
    with contextlib.suppress(OSError):
        # Listed at once: a signal between opening and closing would leave the folder open.
        for entry in list(os.scandir(os.path.dirname(target))):
            if entry.name.startswith(prefix) and entry.name.endswith(".part"):
                with contextlib.suppress(OSError):
                    _remove_if_ownerless(entry)


def _remove_if_ownerless(entry: os.DirEntry[str]) -> None:
    """Remove a file that a killed run of this user left; anybody may have made the others."""
    found = entry.stat(follow_symlinks=False)
    if not stat.S_ISREG(found.st_mode):
        return
    if sys.platform == "win32":
        os.unlink(entry.path)  # fails for a file that is open
        return
    if found.st_uid != os.geteuid():
        return
    # It may have become another thing since, whose opening must not wait.
    descriptor = os.open(entry.path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if os.path.samestat(found, os.fstat(descriptor)):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(entry.path)
    finally:
        os.close(descriptor)


def _sync_folder(folder: str) -> None:
    # Not every system can sync a folder; the file itself is already in place.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
