"""Word tables in a model file; docs/model-format.md tells the arrays."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from perceptron_nlp.formats.tensors import Tensor
from perceptron_nlp.tagger.model.wordtables import ABSENT, WordTables
from perceptron_nlp.tagger.tag.wordbytes import word_bytes

if TYPE_CHECKING:
    import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"
Bad = Callable[[str, str], Exception]


def tables_as_arrays(
    tables: WordTables, pass_number: int
) -> tuple[dict[str, Any], dict[str, Array]]:
    """Their description, and their arrays by name; they belong to the pass of this number."""
    # Here, since tagging does without NumPy.
    import numpy as np

    prefix = f"{pass_number}.tables."
    forms = sorted(tables.rows)
    texts = [word_bytes(form) for form in forms]
    arrays = {
        prefix + "forms": np.frombuffer(b"".join(texts), np.uint8),
        prefix + "lengths": smallest(np.array([len(text) for text in texts], np.int64)),
    }
    all_values = []
    for number in range(len(tables.names)):
        column = [tables.rows[form][number] for form in forms]
        values = sorted({*column} - {ABSENT})
        places = {ABSENT: 0, **{value: place for place, value in enumerate(values, 1)}}
        arrays[f"{prefix}{number}"] = smallest(np.array([places[v] for v in column], np.int64))
        all_values.append(values)
    return {"names": list(tables.names), "values": all_values}, arrays


def tables_from_arrays(
    described: Any, tensors: Mapping[str, Tensor], pass_number: int, bad: Bad
) -> WordTables:
    """The tables of a description and its arrays, every part of it checked.

    Parameters
    ----------
    described : what tables_as_arrays gave
    tensors : all arrays of the file
    pass_number : of the pass that they belong to
    bad : makes the error to raise out of the part's name and what is wrong with it
    """

    def refuse(what: str) -> NoReturn:
        raise bad("tables", what)

    if not isinstance(described, dict) or {*described} != {"names", "values"}:
        refuse("not a description of word tables")
    names, all_values = described["names"], described["values"]
    if (
        not isinstance(names, list)
        or not names
        or not isinstance(all_values, list)
        or len(all_values) != len(names)
        or not _are_strings(names)
        or len(set(names)) < len(names)
    ):
        refuse("not as many lists of values as names")
    prefix = f"{pass_number}.tables."
    forms = _forms(tensors, prefix, refuse)
    columns = []
    for number, values in enumerate(all_values):
        if not isinstance(values, list) or not _are_strings(values):
            refuse("values that are no strings")
        places = _numbers(tensors, f"{prefix}{number}", refuse)
        if len(places) != len(forms) or max(places, default=0) > len(values):
            refuse("values for other forms than there are")
        columns.append([[ABSENT, *values][place] for place in places])
    return WordTables(tuple(names), dict(zip(forms, zip(*columns, strict=True), strict=True)))


def _forms(
    tensors: Mapping[str, Tensor], prefix: str, refuse: Callable[[str], NoReturn]
) -> list[str]:
    lengths = _numbers(tensors, prefix + "lengths", refuse)
    text = _numbers(tensors, prefix + "forms", refuse)
    ends = list(itertools.accumulate(lengths))
    if text.itemsize != 1 or (ends[-1] if ends else 0) != len(text):
        refuse("forms of other lengths than the file says")
    whole = text.tobytes()
    try:
        forms = [
            whole[begin:end].decode("utf-8", "surrogatepass")
            for begin, end in zip([0, *ends], ends, strict=False)
        ]
    except UnicodeDecodeError:
        refuse("forms that are not UTF-8")
    if any(one >= two for one, two in itertools.pairwise(forms)):
        refuse("forms that are not in ascending order")
    return forms


def _numbers(
    tensors: Mapping[str, Tensor], name: str, refuse: Callable[[str], NoReturn]
) -> memoryview:
    tensor = tensors.get(name)
    if tensor is None or len(tensor.shape) != 1 or tensor.dtype not in ("U8", "U16", "U32"):
        refuse(f"{name} is missing, or not what it should be")
    return tensor.numbers()


def _are_strings(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def smallest(numbers: Array) -> Array:
    """Whole numbers in the narrowest unsigned type of 8 to 32 bits that holds them."""
    import numpy as np

    most = int(numbers.max(initial=0))
    return numbers.astype(np.uint8 if most < 256 else np.uint16 if most < 65536 else np.uint32)
