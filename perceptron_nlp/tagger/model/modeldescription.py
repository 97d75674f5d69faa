"""What a model file says of one model: a JSON object, and the names of its arrays.

Nothing that it says is taken before it is checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from perceptron_nlp._core.model.frozenmodel import WIDEST_BEAM
from perceptron_nlp._core.model.modelrows import rise
from perceptron_nlp.errors import ModelError
from perceptron_nlp.features.templates import Template, check_templates
from perceptron_nlp.tagger.confidence.calibration import Calibration
from perceptron_nlp.tagger.model.attributes import JOINT, MODES, UPOS, parts_of
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.model.tablefile import tables_as_arrays, tables_from_arrays
from perceptron_nlp.tagger.model.weightfile import (
    numbers_named,
    weights_as_arrays,
    weights_from_arrays,
    whole,
)
from perceptron_nlp.tagger.model.wordtables import WordTables
from perceptron_nlp.tagger.tag.context import WIDEST_WINDOW, look_nearby
from perceptron_nlp.text.spans import SCHEMES, is_span_column
from perceptron_nlp.text.tagset import TagSet

if TYPE_CHECKING:
    import numpy.typing as npt

    from perceptron_nlp.formats.tensors import Tensor
    from perceptron_nlp.tagger.model.state import TrainingState

Array: TypeAlias = "npt.NDArray[Any]"


def describe(model: TaggerModel, number: int) -> tuple[dict[str, Any], dict[str, Array]]:
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
        described["calibration"] = model.calibration.to_dict()
    tensors = weights_as_arrays(weights, number)
    if model.first is not None:
        described["first"], more = describe(model.first, number + 1)
        tensors.update(more)
    if model.tables is not None:
        described["tables"], more = tables_as_arrays(model.tables, number)
        tensors.update(more)
    if model.state is not None:
        described["state"], more = model.state.to_parts(f"{number}.state.")
        tensors.update(more)
    return described, tensors


class Description:
    """What a file says of one model, each part checked when it is taken.

    Parameters
    ----------
    path : the file's name, for messages
    tensors : the arrays of the file
    described, record : the model's description, and the record of its training
    number : that of the pass, as in the names of its arrays

    Raises
    ------
    PerceptronNLPError, KeyError, TypeError, ValueError, RecursionError : a part is missing or wrong
    """

    def __init__(
        self,
        path: str,
        tensors: Mapping[str, Tensor],
        described: dict[str, Any],
        record: dict[str, Any],
        number: int = 0,
    ) -> None:
        self.number = number
        self.path = path
        self.tensors = tensors
        self.described = described
        self.record = record

    def model(self, packed: bool = False) -> TaggerModel:
        """The model; `packed` tells whether the file's arrays are."""
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
            column=column,
            tags=tags,
            templates=templates,
            extractor=extractor,
            weights=weights_from_arrays(
                self.described,
                self.tensors,
                self.number,
                (n_weighed, max(1, len(templates))),
                self._bad,
            ),
            right_to_left=right_to_left,
            beam=beam,
            scheme=self._scheme(tags),
            parts=parts,
            dictionary=self._dictionary(tags),
            vocabulary=self._vocabulary(),
            record=self.record,
            first=self._first(),
            tables=self._tables(),
            window=self._window(templates),
            calibration=self._calibration(),
            state=self._state(n_weighed, max(1, len(templates))),
            packed=packed,
        )

    def _calibration(self) -> Calibration | None:
        # Models that were never calibrated do not speak of it.
        described = self.described.get("calibration")
        if described is None:
            return None
        try:
            return Calibration.from_dict(described)
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
        model = Description(
            self.path, self.tensors, described, self.record, self.number + 1
        ).model()
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
        from perceptron_nlp.tagger.model.state import TrainingState

        prefix = f"{self.number}.state."
        arrays = {
            name: tensor.array() for name, tensor in self.tensors.items() if name.startswith(prefix)
        }
        return TrainingState.from_parts(described, arrays, prefix, n_weighed, n_groups)

    def _scheme(self, tags: TagSet) -> str | None:
        scheme = self.described["scheme"]
        fits = (
            scheme is None
            or (scheme == JOINT and all("|" in label for label in tags))
            or (scheme in SCHEMES and is_span_column({*tags, "B-X"}))
        )
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
        return ModelError(f"{self.path}: the model's {name}: {what}; get the file again")
