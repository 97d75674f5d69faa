"""Models that come with the library, under short names such as ``en``."""

from __future__ import annotations

import os
import re

from perceptron_nlp.errors import FileError

NAMES = ("en",)
FOLDER = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../models"))
_NAME = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]+)*")


def model_place(path: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """The file of a model that is named as people do: by its path, or by a name such as ``en``.

    A file in the working folder goes before a model of the same name; a folder does not.

    Raises
    ------
    FileError : the model of this name was removed from the package
    """
    if not isinstance(path, str) or not is_name(path):
        return path
    place = os.path.join(FOLDER, f"{path}.model")
    if os.path.isfile(place):
        return place
    if path not in NAMES:
        return path
    raise FileError(
        f"{path}: there is no such file, and the model of this name, which comes with"
        f" perceptron_nlp, was removed from it ({place}); install perceptron-nlp again, or name a"
        " model file"
    )


def is_name(path: str) -> bool:
    """Is this the name of a model: small letters, and no file that is there?"""
    return _NAME.fullmatch(path) is not None and (not os.path.lexists(path) or os.path.isdir(path))


def is_shipped(path: str) -> bool:
    """Does the name stand for a model that comes with the library, whether or not it is there?"""
    return is_name(path) and (
        path in NAMES or os.path.isfile(os.path.join(FOLDER, f"{path}.model"))
    )
