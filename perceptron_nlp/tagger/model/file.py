"""The model file: which arrays and strings of the tensor container mean what.

Metadata strings: ``format`` is ``perceptron_nlp``; ``format_version`` is ``1``, or ``2`` where
arrays are packed, which ``packed`` tells (see formats/packedtensors.py); ``made_by`` is the
library's version; ``model`` and ``record`` are JSON objects. A model of several columns has
``more`` too, a JSON list with an object for each column after the first, of its ``model`` and
``record``. The arrays of a first column, and with 1 in place of 0 those of the first pass that it
builds on, if there is one; with 2k and 2k + 1 in place of them those of column k, from 0::

    0.keys          U64 [rows]       feature keys; in a fixed table, row numbers
    0.group_starts  I64 [groups+1]   rows of each template, in the order of the templates
    0.counts        U8|U16|U32 [rows]  weights in each row
    0.labels        U8|U16 [cells]   label numbers, ascending in a row
    0.weights       I16 [cells]      in units of 1 / scale
    0.tables.*      word tables: see tablefile.py
    0.state.*       the state of the training, where it is kept: see trainingstate.py
    vocabulary      U32 [words]      upper halves of the hashes of training words, ascending

Loading follows nothing that the file says to a path, a module or a name.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from perceptron_nlp._version import __version__
from perceptron_nlp.errors import ModelError, PerceptronNLPError, quote
from perceptron_nlp.formats import (
    open_tensors,
    packed_tensors,
    read_file_bytes,
    unpacked_tensors,
    write_tensors,
)
from perceptron_nlp.tagger.model.bundled import model_place
from perceptron_nlp.tagger.model.model import TaggerModel, joined
from perceptron_nlp.tagger.model.modeldescription import Description, describe
from perceptron_nlp.tagger.model.modeljson import (
    checked_object,
    checked_record,
    object_in,
    objects_in,
    to_json,
)

if TYPE_CHECKING:
    import mmap

FORMAT = "perceptron_nlp"
FORMAT_VERSION = 2
# What has no packed arrays can be read by programs that know none.
PLAIN_VERSION = 1
PACKED = {"keys": "ascending", "counts": "positive", "labels": "in_rows", "weights": "signed"}


def model_to_bytes(model: TaggerModel) -> bytes:
    """The model file's content; equal models give equal bytes."""
    described, tensors = describe(model, 0)
    tensors["vocabulary"] = model.vocabulary
    metadata = {
        "format": FORMAT,
        "format_version": str(FORMAT_VERSION if model.packed else PLAIN_VERSION),
        "made_by": __version__,
        "model": to_json(described),
        "record": to_json(model.record),
    }
    columns = []
    for place, other in enumerate(model.more, 1):
        described, arrays = describe(other, 2 * place)
        columns.append({"model": described, "record": dict(other.record)})
        tensors.update(arrays)
    if columns:
        metadata["more"] = to_json(columns)
    if model.packed:
        tensors, how = packed_tensors(tensors, _kinds(tensors))
        metadata["packed"] = to_json(how)
    return write_tensors(tensors, metadata)


def _kinds(names: Iterable[str]) -> dict[str, str]:
    """How the arrays of a model are packed, of those that are."""
    kinds = {"vocabulary": "ascending"}
    for name in names:
        number, _, part = name.partition(".")
        if number.isdecimal() and part in PACKED:
            kinds[name] = PACKED[part]
    return kinds


def read_model(path: str | os.PathLike[str]) -> TaggerModel:
    """What is in a model file, without the means to tag: see ``perceptron_nlp.load`` for those.

    A model that was trained with a feature function is read, too, without that function.

    Raises
    ------
    FileError : the file is missing, a folder, or cannot be read
    ModelError : damaged, of another program, or of a version not known here
    """
    path = model_place(path)
    return model_from_bytes(read_file_bytes(path), os.fspath(path))


def model_from_bytes(data: bytes | bytearray | memoryview | mmap.mmap, path: str) -> TaggerModel:
    """The model in a file's content, every part of it checked.

    Parameters
    ----------
    data : the content
    path : the file's name, for messages

    Raises
    ------
    ModelError : damaged, of another program, or of a version not known here
    """
    tensors, metadata = open_tensors(data, path)
    if metadata.get("format") != FORMAT:
        raise ModelError(f"{path}: a safetensors file of another program, not a tagger model")
    if metadata.get("format_version") not in (str(PLAIN_VERSION), str(FORMAT_VERSION)):
        raise ModelError(
            f"{path}: model format {quote(metadata.get('format_version', '?'))}, made by version"
            f" {quote(metadata.get('made_by', '?'))}; this is version {__version__}, which reads"
            f" formats {PLAIN_VERSION} and {FORMAT_VERSION}; upgrade perceptron_nlp or train again"
        )
    try:
        packed = metadata["format_version"] == str(FORMAT_VERSION)
        if packed:
            how = object_in(metadata["packed"], "packed")
            tensors = unpacked_tensors(tensors, how, path)
        first = Description(
            path,
            tensors,
            object_in(metadata["model"], "model"),
            checked_record(object_in(metadata["record"], "record")),
        ).model(packed)
        if "more" not in metadata:
            return first
        others = [
            Description(
                path,
                tensors,
                checked_object(one["model"], "model"),
                checked_record(one["record"]),
                2 * place,
            ).model()
            for place, one in enumerate(objects_in(metadata["more"], "more"), 1)
        ]
        return joined([first, *others])
    except ModelError:
        raise
    except (PerceptronNLPError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ModelError(f"{path}: the model's description is not valid: {error}") from None
