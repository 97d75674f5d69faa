"""The content of a model file, read into memory or mapped."""

from __future__ import annotations

import mmap
import os
import stat
from typing import BinaryIO

from perceptron_nlp.errors import ArgumentTypeError, FileError, ModelError


def read_file_bytes(path: str | os.PathLike[str]) -> bytes:
    """The whole content of a regular file.

    Raises
    ------
    ArgumentTypeError : ``path`` is not a path
    FileError : missing, a folder, a pipe or device, not readable
    """
    with _open_regular(path) as handle:
        try:
            return handle.read()
        except OSError as error:
            raise FileError(f"{os.fspath(path)}: cannot be read: {error.strerror}") from error


def map_file_bytes(path: str | os.PathLike[str]) -> mmap.mmap:
    """The whole content of a regular file, mapped for reading; raises as `read_file_bytes`.

    The file must stay as it is while it is mapped: replacing it by a rename is harmless,
    writing into it is not.  An empty file, which cannot be mapped, is a ModelError.
    """
    with _open_regular(path) as handle:
        try:
            return mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError as error:
            raise ModelError(f"{os.fspath(path)}: the file is empty") from error
        except OSError as error:
            raise FileError(f"{os.fspath(path)}: cannot be mapped: {error.strerror}") from error


def _open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentTypeError(f"path: a str or path is needed, not {type(path).__name__}")
    name = os.fspath(path)
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise FileError(f"{name}: is a folder; name the model file in it")
        # Opening a pipe would wait for its writer.
        if not stat.S_ISREG(mode):
            raise FileError(f"{name}: is a pipe or device; a model is read from a file")
        return open(path, "rb")
    except FileError:
        raise
    except FileNotFoundError as error:
        raise FileError(f"{name or repr(name)}: there is no such file") from error
    except ValueError as error:
        raise FileError(f"{name!r}: cannot be the name of a file: {error}") from error
    except OSError as error:
        raise FileError(f"{name}: cannot be opened: {error.strerror}") from error
