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
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from perceptron_nlp._core.frozenmodel import WIDEST_BEAM
from perceptron_nlp._core.modelrows import rise
from perceptron_nlp._version import __version__
from perceptron_nlp.errors import ModelError, PerceptronNLPError, quote
from perceptron_nlp.features.templates import Template, check_templates
from perceptron_nlp.formats import (
    open_tensors,
    packed_tensors,
    read_file_bytes,
    unpacked_tensors,
    write_tensors,
)
from perceptron_nlp.tagging.attributes import JOINT, MODES, UPOS, parts_of
from perceptron_nlp.tagging.calibration import Calibration
from perceptron_nlp.tagging.documents import WIDEST_WINDOW, look_nearby
from perceptron_nlp.tagging.model import TaggerModel, joined
from perceptron_nlp.tagging.modeljson import checked_object, object_in, objects_in, to_json
from perceptron_nlp.tagging.shipped import model_place
from perceptron_nlp.tagging.tablefile import tables_as_arrays, tables_from_arrays
from perceptron_nlp.tagging.weightfile import (
    numbers_named,
    weights_as_arrays,
    weights_from_arrays,
    whole,
)
from perceptron_nlp.tagging.wordtables import WordTables
from perceptron_nlp.text.spans import SCHEMES, is_span_column
from perceptron_nlp.text.tagset import TagSet

if TYPE_CHECKING:
    import mmap

    import numpy.typing as npt

    from perceptron_nlp.formats.tensors import Tensor
    from perceptron_nlp.tagging.trainingstate import TrainingState

FORMAT = "perceptron_nlp"
FORMAT_VERSION = 2
# What has no packed arrays can be read by programs that know none.
PLAIN_VERSION = 1
PACKED = {"keys": "ascending", "counts": "positive", "labels": "in_rows", "weights": "signed"}

Array: TypeAlias = "npt.NDArray[Any]"


def model_to_bytes(model: TaggerModel) -> bytes:
    """The model file's content; equal models give equal bytes."""
    described, tensors = _describe(model, 0)
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
        described, arrays = _describe(other, 2 * place)
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


def _describe(model: TaggerModel, number: int) -> tuple[dict[str, Any], dict[str, Array]]:
    """The description and the arrays of a model, as pass `number`, and of its first pass."""
    weights = model.weights
    described = {
        "column": model.column,
        "labels": model.tags.to_list(),
        "templates": [str(template) for template in model.templates],
        "extractor": model.extractor,
        "right_to_left": model.right_to_left,
        "beam": model.beam,
        "scheme": model.scheme,
        "parts": model.parts,
        "table_bits": weights.table_bits,
        "scale": weights.scale,
        "dictionary": dict(model.dictionary),
        "first": None,
        "tables": None,
        "window": model.window,
    }
    if model.calibration is not None:
        described["calibration"] = model.calibration.to_json()
    tensors = weights_as_arrays(weights, number)
    if model.first is not None:
        described["first"], more = _describe(model.first, number + 1)
        tensors.update(more)
    if model.tables is not None:
        described["tables"], more = tables_as_arrays(model.tables, number)
        tensors.update(more)
    if model.state is not None:
        described["state"], more = model.state.to_parts(f"{number}.state.")
        tensors.update(more)
    return described, tensors


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
            f" formats {PLAIN_VERSION} and {FORMAT_VERSION}; upgrade perceptron_nlp or train again")
    try:
        packed = metadata["format_version"] == str(FORMAT_VERSION)
        if packed:
            how = object_in(metadata["packed"], "packed")
            tensors = unpacked_tensors(tensors, how, path)
        first = _Checked(path, tensors, object_in(metadata["model"], "model"),
                         object_in(metadata["record"], "record")).model(packed)
        if "more" not in metadata:
            return first
        others = [
            _Checked(path, tensors, checked_object(one["model"], "model"),
                     checked_object(one["record"], "record"), 2 * place).model()
            for place, one in enumerate(objects_in(metadata["more"], "more"), 1)]
        return joined([first, *others])
    except ModelError:
        raise
    except (PerceptronNLPError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ModelError(f"{path}: the model's description is not valid: {error}") from None


class _Checked:
    """A file's parts, each checked when it is taken."""

    def __init__(self, path: str, tensors: Mapping[str, Tensor], described: dict[str, Any],
                 record: dict[str, Any], number: int = 0) -> None:
        self.number = number
        self.path = path
        self.tensors = tensors
        self.described = described
        self.record = record

    def model(self, packed: bool = False) -> TaggerModel:
        labels = self._strings("labels")
        tags = TagSet(labels)
        if tags.to_list() != labels or not labels:
            raise self._bad("labels", "not sorted, repeated or missing")
        extractor = self.described["extractor"]
        if extractor is not None and not isinstance(extractor, str):
            raise self._bad("extractor", "not a name")
        templates: tuple[Template, ...] = ()
        if extractor is None:
            templates = check_templates(self._strings("templates"))
        right_to_left = self.described["right_to_left"]
        column = self.described["column"]
        if not isinstance(right_to_left, bool) or not isinstance(column, str):
            raise self._bad("column, right_to_left", "of another type")
        beam = self.described["beam"]
        if not isinstance(beam, int) or isinstance(beam, bool) or not 1 <= beam <= WIDEST_BEAM:
            raise self._bad("beam", f"not a whole number from 1 to {WIDEST_BEAM}")
        parts = self.described["parts"]
        if parts is not None and (parts not in MODES or beam > 1):
            raise self._bad("parts", "not known, or with a beam")
        n_weighed = len(labels) if parts is None else parts_of(labels, parts).n_parts
        return TaggerModel(
            column=column, tags=tags, templates=templates, extractor=extractor,
            weights=weights_from_arrays(self.described, self.tensors, self.number,
                                        (n_weighed, max(1, len(templates))), self._bad),
            right_to_left=right_to_left, beam=beam, scheme=self._scheme(tags), parts=parts,
            dictionary=self._dictionary(tags), vocabulary=self._vocabulary(),
            record=self.record, first=self._first(), tables=self._tables(),
            window=self._window(templates), calibration=self._calibration(),
            state=self._state(n_weighed, max(1, len(templates))), packed=packed)

    def _calibration(self) -> Calibration | None:
        # Models that were never calibrated do not speak of it.
        described = self.described.get("calibration")
        if described is None:
            return None
        try:
            return Calibration.from_json(described)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise self._bad("calibration", str(error)) from None

    def _window(self, templates: tuple[Template, ...]) -> int | None:
        window = self.described["window"]
        if window is not None and (type(window) is not int or not 0 <= window <= WIDEST_WINDOW):
            raise self._bad("window", f"not a whole number from 0 to {WIDEST_WINDOW:,}")
        if look_nearby(templates) and window is None:
            raise self._bad("window", "missing, though templates look nearby")
        return window

    def _first(self) -> TaggerModel | None:
        described = self.described["first"]
        if described is None:
            return None
        if self.number % 2 or not isinstance(described, dict):
            raise self._bad("first", "not the description of a first pass")
        model = _Checked(self.path, self.tensors, described, self.record,
                         self.number + 1).model()
        if model.scheme != JOINT and (model.scheme is not None or model.column != UPOS):
            raise self._bad("first", "a first pass of other labels than features and upos")
        return model

    def _tables(self) -> WordTables | None:
        described = self.described["tables"]
        if described is None:
            return None
        if self.number % 2:
            raise self._bad("tables", "in a first pass, which has those of the second")
        return tables_from_arrays(described, self.tensors, self.number, self._bad)

    def _state(self, n_weighed: int, n_groups: int) -> TrainingState | None:
        described = self.described.get("state")
        if described is None:
            return None
        # Here, since few models keep it, and reading it takes NumPy.
        from perceptron_nlp.tagging.trainingstate import TrainingState

        prefix = f"{self.number}.state."
        arrays = {name: tensor.array() for name, tensor in self.tensors.items()
                  if name.startswith(prefix)}
        return TrainingState.from_parts(described, arrays, prefix, n_weighed, n_groups)

    def _scheme(self, tags: TagSet) -> str | None:
        scheme = self.described["scheme"]
        fits = scheme is None or (
            scheme == JOINT and all("|" in label for label in tags)) or (
            scheme in SCHEMES and is_span_column({*tags, "B-X"}))
        if not fits:
            raise self._bad("scheme", "not known, or its labels are of another kind")
        return None if scheme is None else str(scheme)

    def _vocabulary(self) -> Any:
        vocabulary = numbers_named(self.tensors, "vocabulary", ("U32",), self._bad)
        if not rise(vocabulary, whole(vocabulary)):
            raise self._bad("vocabulary", "not in ascending order")
        return vocabulary

    def _dictionary(self, tags: TagSet) -> dict[str, str]:
        dictionary = self.described["dictionary"]
        if not isinstance(dictionary, dict) or any(
                not isinstance(label, str) or label not in tags for label in dictionary.values()):
            raise self._bad("dictionary", "gives labels that are not in the tag set")
        return dictionary

    def _strings(self, name: str) -> list[str]:
        value = self.described[name]
        if not isinstance(value, list) or any(not isinstance(item, str) for item in value):
            raise self._bad(name, "not a list of strings")
        return value

    def _bad(self, name: str, what: str) -> ModelError:
        return ModelError(f"{self.path}: the model's {name}: {what}; get the file again")
