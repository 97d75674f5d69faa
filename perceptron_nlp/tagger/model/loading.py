"""Taggers from files."""

from __future__ import annotations

import os

from perceptron_nlp.errors import ArgumentTypeError, ModelError
from perceptron_nlp.formats import map_file_bytes, read_file_bytes
from perceptron_nlp.tagger.model.bundled import model_place
from perceptron_nlp.tagger.model.file import model_from_bytes
from perceptron_nlp.tagger.tag.extractor import Extractor
from perceptron_nlp.tagger.tagger import Tagger


def load(
    path: str | os.PathLike[str],
    *,
    features: Extractor | None = None,
    cache_limit: int | None = None,
    mmap: bool = False,
) -> Tagger:
    """A tagger from a model file.

    Parameters
    ----------
    path : the file, or the name of a model that comes with the library: ``"en"`` (English: upos,
        xpos, feats). A file of that name in the working folder goes before it
    features : the feature function, where the model was trained with one; the file only names it
    cache_limit : how many distinct words each thread remembers; None for the default (32,768)
    mmap : map the file into memory rather than read it: processes that load the same file share
        what stays of it. It is checked in the same way. While the tagger lives, the file may be
        replaced, as ``save`` does, but nobody may write into it

    Raises
    ------
    ArgumentTypeError : `path` or `mmap` is of another type
    FileError : the file is missing, a folder, or cannot be read; the model of this name was removed
    ModelError : it is damaged, of another program or version, or needs `features`
    """
    if not isinstance(mmap, bool):
        raise ArgumentTypeError(f"mmap: True or False is needed, not {type(mmap).__name__}")
    path = model_place(path)
    data = map_file_bytes(path) if mmap else read_file_bytes(path)
    try:
        return Tagger(
            model_from_bytes(data, os.fspath(path)), features=features, cache_limit=cache_limit
        )
    except ModelError as error:
        name = os.fspath(path)
        raise error if str(error).startswith(name) else ModelError(f"{name}: {error}") from None
