"""The folder of a report: its own files are replaced together, and no other file is touched."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

from perceptron_nlp._checks import check_path
from perceptron_nlp.errors import FileError
from perceptron_nlp.formats.replace import TEMPORARY, replace_files

PAGE = "index.html"
# As it stands in the head of the page (pages/templates/base.html).
_GENERATOR = b'content="perceptron_nlp report'
_CHART = re.compile(r"(learning|lengths|calibration|confusion)(-\d+)?\.(svg|png)")
_HEAD = 1024


def check_folder(folder: str | os.PathLike[str]) -> Path:
    """The folder as a path, if a report may be written there; nothing is made.

    Raises
    ------
    ArgumentTypeError : not a path
    FileError : a file stands there, or a folder with other things than a report in it, or the
        place cannot be written to
    """
    check_path("folder", folder)
    place = Path(folder)
    try:
        names = [name for name in os.listdir(place) if not name.startswith(TEMPORARY)]
    except FileNotFoundError:
        return _makeable(place)
    except NotADirectoryError as error:
        raise FileError(
            f"{place}: is a file, or lies in one; name a folder for the report"
        ) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{str(place)!r}: cannot be read as a folder: {reason}") from error
    if names and not _is_ours(place):
        raise FileError(f"{place}: holds other files than a report; name a new or empty folder")
    if not os.access(place, os.W_OK | os.X_OK):
        raise FileError(f"{place}: cannot be written to")
    return place


def _makeable(place: Path) -> Path:
    if os.path.islink(place):
        raise FileError(f"{place}: is a link to a folder that is not there")
    parent = next((above for above in place.absolute().parents if os.path.lexists(above)), None)
    if parent is None or not parent.is_dir():
        raise FileError(f"{place}: lies in a file; name a folder for the report")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise FileError(f"{place}: cannot be made, since {parent} cannot be written to")
    return place


def _is_ours(place: Path) -> bool:
    try:
        with open(place / PAGE, "rb") as handle:
            return _GENERATOR in handle.read(_HEAD)
    except OSError:
        return False


def write_folder(folder: str | os.PathLike[str], files: Mapping[str, bytes]) -> None:
    """Write the page and the pictures of a report; pictures of an earlier one go.

    All files take their places, the page last, once the contents of all are on disk: if anything
    fails before, what stood there stands there still.

    Raises FileError as check_folder does, and where a file cannot be written.
    """
    place = check_folder(folder)
    was_there = place.exists()
    try:
        place.mkdir(parents=True, exist_ok=True)
        _write(place, files)
    except OSError as error:
        if not was_there:
            with contextlib.suppress(OSError):
                place.rmdir()
        if isinstance(error, FileError):
            raise
        raise FileError(f"{place}: cannot be written: {error.strerror or error}") from error


def _write(place: Path, files: Mapping[str, bytes]) -> None:
    replace_files((place / name, files[name]) for name in sorted(files, key=PAGE.__eq__))
    for name in os.listdir(place):
        if _CHART.fullmatch(name) and name not in files:
            (place / name).unlink()
