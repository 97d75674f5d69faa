"""JSON in the metadata of model files: equal values are equal bytes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from perceptron_nlp._core.model.frozenmodel import WIDEST_BEAM
from perceptron_nlp._core.model.modelrows import in_label_order, rise, starts_of
from perceptron_nlp._version import __version__
from perceptron_nlp.errors import ModelError, PerceptronNLPError, quote
from perceptron_nlp.features.templates import Template, check_templates, look_nearby
from perceptron_nlp.formats import open_tensors, packed_tensors, unpacked_tensors, write_tensors
from perceptron_nlp.tagger.model.calibration import Calibration
from perceptron_nlp.tagger.model.derived import Derived, FirstPass, Stored
from perceptron_nlp.tagger.model.label_components import JOINT, MODES, SCRIPTS, UPOS, parts_of
from perceptron_nlp.tagger.model.model import (
    TEXT,
    Segmentation,
    TaggerModel,
    Whole,
    checked_record,
    joined,
)
from perceptron_nlp.tagger.model.weights import (
    QuantizedWeights,
    Reader,
    Writer,
    checked_object,
    object_in,
    objects_in,
    strings_in,
    to_json,
    whole,
)
from perceptron_nlp.text.tagset import SCHEMES, TagSet, is_span_column

if TYPE_CHECKING:
    import mmap

    import numpy.typing as npt

    from perceptron_nlp.formats.tensorfile import Tensor


Array: TypeAlias = "npt.NDArray[Any]"

FORMAT = "perceptron_nlp"
FOLDER = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../models"))
MODEL_FORMAT_VERSION = 3
PLAIN_VERSION = 1  # without packed arrays
TIGHTEST = 2
"""What `packed` of a model is if it takes as few bytes as can be."""
CUT_FLAGS = ("parted", "uncapitalized", "wrapped")
PACKED = {"keys": "ascending", "counts": "positive", "labels": "in_rows", "weights": "signed"}

# The keys of derived columns in a description, in the order in which they are made; where there are
# none it is null, and no key LEMMAS.
FUNCTION, WINDOW, TABLES, LEMMAS, FIRST = "extractor", "window", "tables", "lemmas", "first"


def stored(key: str) -> type[Stored]:
    """Return the class of the derived columns of a key, which is loaded if a model has them."""
    if key == FUNCTION:
        from perceptron_nlp.tagger.model.feature_function import FeatureFunction

        return FeatureFunction
    if key == WINDOW:
        from perceptron_nlp.tagger.model.context import DocumentContext

        return DocumentContext
    if key == TABLES:
        from perceptron_nlp.tagger.model.word_tables import WordTables

        return WordTables
    from perceptron_nlp.tagger.model.lemmas import KnownLemmas

    return KnownLemmas


def describe(model: TaggerModel, number: int) -> tuple[dict[str, Any], dict[str, Array]]:
    """The description and the arrays of a model, as pass `number`, and of its first pass."""
    same = ("column", "right_to_left", "beam", "scheme", "parts")
    writer = Writer(f"{number}.", {})
    described: dict[str, Any] = {name: getattr(model, name) for name in same} | {
        "labels": model.tags.to_list(),
        "templates": [str(template) for template in model.templates],
        "dictionary": dict(model.dictionary),
        **dict.fromkeys((FUNCTION, WINDOW, TABLES, FIRST)),
        **model.weights.write(writer),
    }
    if model.calibration is not None:
        described["calibration"] = model.calibration.to_dict()
    tensors = writer.arrays
    for derived in model.derived:
        if isinstance(derived, FirstPass):
            described[FIRST], more = describe(derived.model, number + 1)
            tensors.update(more)
        else:
            described[derived.key] = cast(Stored, derived).write(writer)
    for name in ("settled", "state"):
        if getattr(model, name) is not None:
            described[name] = getattr(model, name).write(writer.under(name))
    return described, tensors


class _Description(NamedTuple):
    """Description of one model in a file, each part checked when it is taken.

    ``number`` is that of the pass in the names of its arrays, ``again`` as for Reader.
    """

    path: str
    tensors: Mapping[str, Tensor]
    described: dict[str, Any]
    record: dict[str, Any]
    number: int = 0
    again: Callable[[str], Mapping[str, Tensor]] | None = None

    def model(self, packed: int = 0) -> TaggerModel:
        """The model; `packed` tells how the file's arrays are, see Whole."""
        labels = self._strings("labels")
        tags = TagSet(labels)
        if tags.to_list() != labels or not labels:
            raise self._bad("labels", "not sorted, repeated or missing")
        templates = check_templates(self._strings("templates"))
        right_to_left, column = (self.described[key] for key in ("right_to_left", "column"))
        if not isinstance(right_to_left, bool) or not isinstance(column, str):
            raise self._bad("column, right_to_left", "of another type")
        beam = self.described["beam"]
        if not isinstance(beam, int) or isinstance(beam, bool) or not 1 <= beam <= WIDEST_BEAM:
            raise self._bad("beam", f"not a whole number from 1 to {WIDEST_BEAM}")
        parts = self.described["parts"]
        if parts is not None and (parts not in MODES or beam > 1):
            raise self._bad("parts", "not known, or with a beam")
        n_weighed = len(labels) if parts is None else parts_of(tags.labels, parts).n_parts
        shape = (n_weighed, len(templates))
        weights = QuantizedWeights.read(self.described, self._reader, shape)
        return TaggerModel(
            column=column,
            tags=tags,
            templates=templates,
            weights=weights,
            right_to_left=right_to_left,
            beam=beam,
            scheme=self._scheme(tags),
            parts=parts,
            dictionary=self._dictionary(tags),
            vocabulary=self._vocabulary(),
            record=self.record,
            derived=tuple(self._derived(templates, tags)),
            calibration=self._calibration(),
            state=self._part("state", *shape),
            settled=self._part("settled", len(labels)),
            whole=Whole(packed=packed),
        )

    @property
    def _reader(self) -> Reader:
        return Reader(f"{self.number}.", self.tensors, self._bad, self.again)

    def _calibration(self) -> Calibration | None:
        # Models that were never calibrated do not speak of it.
        described = self.described.get("calibration")
        if described is None:
            return None
        try:
            return Calibration.from_dict(described)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise self._bad("calibration", str(error)) from None

    def _derived(self, templates: tuple[Template, ...], tags: TagSet) -> Iterator[Derived]:
        """Yield the derived columns, in the order in which they are made."""
        if self.described[WINDOW] is None and look_nearby(templates):
            raise self._bad("window", "missing, though templates look nearby")
        for key in (FUNCTION, WINDOW, TABLES):
            if self.described[key] is None:
                continue
            if self.number % 2 and key == TABLES:
                raise self._bad("tables", "in a first pass, which has those of the second")
            yield stored(key).read(self.described[key], self._reader)
        if self.described["scheme"] == SCRIPTS:
            # Here, since models without lemmas do without.
            from perceptron_nlp.text.scripts import parse_script

            for label in tags:
                parse_script(label)
            yield stored(LEMMAS).read(self.described[LEMMAS], self._reader)
        if self.described[FIRST] is not None:
            yield FirstPass(self._first())

    def _first(self) -> TaggerModel:
        described = self.described[FIRST]
        if self.number % 2 or not isinstance(described, dict):
            raise self._bad("first", "not the description of a first pass")
        model = self._replace(described=described, number=self.number + 1).model()
        if model.scheme != JOINT and (model.scheme is not None or model.column != UPOS):
            raise self._bad("first", "a first pass of other labels than features and upos")
        return model

    def _part(self, name: str, *shape: int) -> Any:
        if name not in self.described:
            return None
        described, reader = self.described[name], self._reader.under(name)
        if name == "settled":
            from perceptron_nlp.tagger.model.settled import Settled

            return Settled.read(described, reader, *shape)
        from perceptron_nlp.tagger.model.state import TrainingState

        return TrainingState.read(described, reader, *shape)

    def _scheme(self, tags: TagSet) -> str | None:
        scheme = self.described["scheme"]
        fits = (
            scheme in (None, SCRIPTS)
            or (scheme == JOINT and all("|" in label for label in tags))
            or (scheme in SCHEMES and is_span_column({*tags, "B-X"}))
        )
        if not fits:
            raise self._bad("scheme", "not known, or its labels are of another kind")
        return None if scheme is None else str(scheme)

    def _vocabulary(self) -> Any:
        vocabulary = self._reader._replace(prefix="").numbers("vocabulary", "U32")
        if not rise(vocabulary, whole(vocabulary)):
            raise self._bad("vocabulary", "not in ascending order")
        return vocabulary

    def _dictionary(self, tags: TagSet) -> dict[str, str]:
        dictionary = self.described["dictionary"]
        if not isinstance(dictionary, dict) or any(
            not isinstance(label, str) or label not in tags for label in dictionary.values()
        ):
            raise self._bad("dictionary", "gives labels that are not in the tag set")
        return dictionary

    def _strings(self, name: str) -> list[str]:
        value = self.described[name]
        if not isinstance(value, list) or any(not isinstance(item, str) for item in value):
            raise self._bad(name, "not a list of strings")
        return value

    def _bad(self, name: str, what: str) -> ModelError:
        return _bad(self.path, name, what)


def _bad(path: str, name: str, what: str) -> ModelError:
    return ModelError(f"{path}: the model's {name}: {what}; get the file again")


def model_to_bytes(model: TaggerModel) -> bytes:
    """The model file's content; equal models give equal bytes."""
    # Here, since tagging does without NumPy.
    import numpy as np

    described, tensors = describe(model, 0)
    tensors["vocabulary"] = np.asarray(model.vocabulary)
    metadata = {
        "format": FORMAT,
        "format_version": str(PLAIN_VERSION + model.packed),
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
    if model.segmentation is not None:
        described, arrays = _describe_segmentation(model, model.segmentation)
        metadata["segmentation"] = to_json(described)
        tensors.update(arrays)
    if model.agreement is not None:
        # Here, since most models have one column.
        from perceptron_nlp.tagger.model.agreement import write_agreement

        parts = {part.column: part for part in model.parts_by_column}
        agreement = write_agreement(model.agreement, parts, Writer("", tensors))
        if agreement is not None:
            metadata["agreement"] = to_json(agreement)
            if model.agreement.upos_weight != 1:
                metadata["upos_weight"] = repr(float(model.agreement.upos_weight))
    is_tightest = model.packed == TIGHTEST
    if is_tightest:
        tensors = _by_frequency(tensors)
        for name in _TEXTS & metadata.keys():
            text = metadata.pop(name).encode("utf-8")
            tensors[_TEXT + name] = np.frombuffer(text, np.uint8)
    if model.packed:
        tensors, how = packed_tensors(tensors, _kinds(tensors), deflates=is_tightest)
        metadata["packed"] = to_json(how)
    return write_tensors(tensors, metadata)


# Strings of the metadata that the tightest form has among its arrays, and what is before their
# names there.
_TEXTS, _TEXT = {"model", "record", "more", "segmentation"}, "text."
_ORDER = "order"


def _by_frequency(tensors: dict[str, Array]) -> dict[str, Array]:
    """Return arrays whose labels are places in their order, the most frequent first."""
    import numpy as np

    found = dict(tensors)
    for name in tensors:
        number, _, part = name.partition(".")
        if not number.isdecimal() or part != "labels" or not len(tensors[name]):
            continue
        labels, counts = tensors[name], tensors[f"{number}.counts"]
        times = np.bincount(labels)
        order = np.argsort(-times, kind="stable")[: np.count_nonzero(times)]
        places = np.zeros(len(times), labels.dtype)
        places[order] = np.arange(len(order))
        cells = np.argsort(np.repeat(np.arange(len(counts)) * len(times), counts) + places[labels])
        found[name] = places[labels][cells]
        found[f"{number}.weights"] = tensors[f"{number}.weights"][cells]
        found[f"{number}.{_ORDER}"] = order.astype(np.uint16)
    return found


def _in_label_order(tensors: dict[str, Tensor], path: str) -> None:
    """Turn what _by_frequency gave into what it was."""
    for name in [name for name in tensors if name.endswith(f".{_ORDER}")]:
        start = name.removesuffix(_ORDER)
        try:
            labels, weights, order = (tensors[start + x] for x in ("labels", "weights", _ORDER))
            starts = labels.starts or starts_of(tensors[f"{start}counts"].numbers())
            in_label_order(labels.numbers(), weights.numbers(), starts, order.numbers())
        except (KeyError, ValueError, TypeError, BufferError) as error:
            raise _bad(path, name, f"not an order of labels: {error}") from None


def _describe_segmentation(
    model: TaggerModel, found: Segmentation
) -> tuple[dict[str, Any], dict[str, Array]]:
    described: dict[str, Any] = found._asdict()
    described["cut"] = None if model.column == TEXT else found.cut
    for name in ("single", "entries", "stems", "abbreviations", *CUT_FLAGS):
        if not described[name]:
            del described[name]
    tensors: dict[str, Array] = {}
    for number, name in enumerate(("cut", "splits"), 1 + len(model.more)):
        if described[name] is not None:
            described[name], arrays = describe(described[name], 2 * number)
            tensors.update(arrays)
    return described, tensors


def _segmentation(own: _Description, first: TaggerModel) -> Segmentation:
    """Return the segmentation in a file, every label of which can be used."""
    # Here, since models without segmentation do without.
    from perceptron_nlp.text.scripts import STEMS, split_plan
    from perceptron_nlp.text.tagset import (
        CASED,
        CASELESS,
        LABELS,
        MATCHES,
        SMALL,
        are_abbreviations,
        are_certain_words,
        are_entries,
        are_patterns,
        are_small_words,
    )

    def stage(name: str, place: int) -> TaggerModel:
        model = checked_object(own.described[name], name)
        return own._replace(described=model, number=own.number + 2 * place).model()

    cut = first if first.column == TEXT else stage("cut", 0)
    columns = cut.feature_columns
    looks = {*cut.tags} <= {*LABELS} and columns in ((), ("gap",), ("gap", SMALL), ("gap", MATCHES))
    if not looks or not _is_plain(cut) or cut.right_to_left or cut.dictionary:
        raise own._bad("segmentation", "not of atoms and gaps")
    certain, words = (checked_object(own.described[name], name) for name in ("certain", "words"))
    patterns = checked_object(own.described.get("patterns", {}), "patterns")
    if any(label not in LABELS for label in certain.values()) or not are_certain_words(words):
        raise own._bad("segmentation", "certain places or words without labels that can be")
    if not are_patterns(patterns):
        raise own._bad("segmentation", "patterns that there are not")
    small = checked_object(own.described.get("small", {}), "small")
    if not are_small_words(small):
        raise own._bad("segmentation", "words in small letters that cannot be")
    lead = own.described["lead"]
    if lead is not None and not (isinstance(lead, float) and lead >= 0):
        raise own._bad("lead", "below 0")
    single, entries = (own.described.get(name, "") for name in ("single", "entries"))
    if single not in ("", CASED, CASELESS, CASED + CASELESS) or not are_entries(entries):
        raise own._bad("segmentation", "atoms or entries that there are not")
    found = Segmentation(cut, certain, words, None, patterns, small, lead, single, tuple(entries))
    listed = own.described.get("abbreviations", [])
    if not are_abbreviations(listed):
        raise own._bad("segmentation", "abbreviations that there are not")
    found = found._replace(
        abbreviations=tuple(listed),
        parted=own.described.get("parted") is True,
        uncapitalized=own.described.get("uncapitalized") is True,
        wrapped=own.described.get("wrapped") is True,
    )
    if own.described["splits"] is None:
        return found
    splits = stage("splits", 1)
    if splits.feature_columns not in ((), (STEMS,)) or not _is_plain(splits):
        raise own._bad("splits", "look at more than tokens")
    stems = checked_object(own.described.get("stems", {}), "stems")
    if any(type(one) is not int or not 0 < one < 1 << 32 for one in stems.values()):
        raise own._bad("stems", "hashes that cannot be")
    for label in splits.tags:
        split_plan(label)
    return found._replace(splits=splits, stems=stems)


def _is_plain(model: TaggerModel) -> bool:
    """Return True for a model that the core can cut text with by itself."""
    return model.beam == 1 and not (model.derived or model.scheme or model.parts)


def _kinds(names: Iterable[str]) -> dict[str, str]:
    """Return the packing of those arrays of a model that are packed."""
    kinds = {"vocabulary": "ascending"}
    for name in names:
        number, _, part = name.replace(".settled.", ".").partition(".")
        if number.isdecimal() and part in PACKED:
            kinds[name] = PACKED[part]
    return kinds


def model_from_bytes(data: bytes | bytearray | memoryview | mmap.mmap, path: str) -> TaggerModel:
    """The model in a file's content, every part of it checked.

    Raises ModelError, naming `path`, if it is damaged, or of another program or version.
    """
    tensors, metadata = open_tensors(data, path)
    if metadata.get("format") != FORMAT:
        raise ModelError(f"{path}: a safetensors file of another program, not a tagger model")
    versions = [*map(str, range(PLAIN_VERSION, MODEL_FORMAT_VERSION + 1))]
    if metadata.get("format_version") not in versions:
        raise ModelError(
            f"{path}: model format {quote(metadata.get('format_version', '?'))}, made by version"
            f" {quote(metadata.get('made_by', '?'))}; this is version {__version__}, which reads"
            f" formats {PLAIN_VERSION} to {MODEL_FORMAT_VERSION}; upgrade perceptron_nlp or train"
            " again"
        )
    try:
        packed = versions.index(metadata["format_version"])
        again = None
        if packed:
            how, stored = object_in(metadata["packed"], "packed"), tensors

            def again(prefix: str) -> dict[str, Tensor]:
                own = {name: one for name, one in stored.items() if name.startswith(prefix)}
                how_own = {name: one for name, one in how.items() if name.startswith(prefix)}
                found = unpacked_tensors(own, how_own, path)
                if packed == TIGHTEST:
                    _in_label_order(found, path)
                return found

            tensors = again("")
        if packed == TIGHTEST:
            for name in [name for name in tensors if name.startswith(_TEXT)]:
                metadata[name.removeprefix(_TEXT)] = str(tensors[name].data, "utf-8")
        model = object_in(metadata["model"], "model")
        record = checked_record(object_in(metadata["record"], "record"))
        own = _Description(path, tensors, model, record, again=again)
        first = own.model(packed)
        if "segmentation" in metadata:
            segmentation = object_in(metadata["segmentation"], "segmentation")
            n_columns = 1 + len(objects_in(metadata.get("more", "[]"), "more"))
            cutting = own._replace(described=segmentation, record={}, number=2 * n_columns)
            first = first.replace(segmentation=_segmentation(cutting, first))
        if first.column == TEXT and ("segmentation" not in metadata or "more" in metadata):
            raise _bad(path, "segmentation", "missing, or not all")
        if "more" not in metadata:
            return first
        others = []
        for place, one in enumerate(objects_in(metadata["more"], "more"), 1):
            model, record = checked_object(one["model"], "model"), checked_record(one["record"])
            other = own._replace(described=model, record=record, number=2 * place)
            others.append(other.model())
        whole_model = joined([first, *others])
        if "agreement" not in metadata:
            return whole_model
        from perceptron_nlp.tagger.model.agreement import read_agreement

        agreement = read_agreement(
            strings_in(metadata["agreement"], "agreement"),
            float(metadata.get("upos_weight", "1")),
            {part.column: part for part in whole_model.parts_by_column},
            Reader("", tensors, lambda name, what: _bad(path, name, what)),
        )
        return whole_model.replace(agreement=agreement)
    except ModelError:
        raise
    except (PerceptronNLPError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ModelError(f"{path}: the model's description is not valid: {error}") from None
