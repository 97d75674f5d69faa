"""Columns that are looked up: for each word what a table says of it, such as its cluster.

Templates see such a column as they see one of the input (``column:clusters100[0]``); the tables
are in the model file, so that the person hands over words alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias

from perceptron_nlp.formats.tensorfile import Tensor
from perceptron_nlp.tagger.model.weights import smallest
from perceptron_nlp.text.sentence import Sentence, with_columns
from perceptron_nlp.text.tagset import word_bytes

if TYPE_CHECKING:
    import numpy.typing as npt


ABSENT = "_"


class WordTables(NamedTuple):
    """Tables over words; they do not change.

    names : the names of their columns, at least one, each once
    rows : what they say of a form, in the order of the names; ABSENT where a table says nothing.
        A word that is not here as it is written has the row of its lower-cased form
    """

    names: tuple[str, ...]
    rows: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, tables: Mapping[str, Mapping[str, str]]) -> WordTables:
        """Tables by name, each from forms to values; each is asked for a word as it is written,
        then lower-cased."""
        forms = sorted(set().union(*tables.values()))
        return cls(
            tuple(tables),
            {
                form: tuple(
                    table.get(form) or table.get(form.lower(), ABSENT) for table in tables.values()
                )
                for form in forms
            },
        )

    def columns(self, words: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The columns of a sentence by their names."""
        get, absent = self.rows.get, (ABSENT,) * len(self.names)
        found = [get(word) or get(word.lower(), absent) for word in words]
        values = zip(*found, strict=True) if found else [()] * len(self.names)
        return dict(zip(self.names, values, strict=True))

    def added_to(self, words: Sequence[str]) -> Sentence:
        """A sentence with the columns."""
        return with_columns(words, self.columns(words))

    def record(self) -> dict[str, object]:
        """Names and a digest of the content, as they go into the model's training record."""
        # Here, since tagging does without.
        import hashlib

        digest = hashlib.sha256()
        for form in sorted(self.rows):
            digest.update(word_bytes("\t".join((form, *self.rows[form])) + "\n"))
        return {"names": list(self.names), "forms": len(self.rows), "sha256": digest.hexdigest()}


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
    arrays = strings_as_arrays(forms, prefix)
    all_values = []
    for number in range(len(tables.names)):
        column = [tables.rows[form][number] for form in forms]
        values = sorted({*column} - {ABSENT})
        places = {ABSENT: 0, **{value: place for place, value in enumerate(values, 1)}}
        arrays[f"{prefix}{number}"] = smallest(np.array([places[v] for v in column], np.int64))
        all_values.append(values)
    return {"names": list(tables.names), "values": all_values}, arrays


def strings_as_arrays(strings: Sequence[str], prefix: str) -> dict[str, Array]:
    """Return strings in ascending order as arrays whose names begin with the prefix."""
    # Here, since tagging does without NumPy.
    import numpy as np

    texts = [word_bytes(text) for text in strings]
    return {
        prefix + "forms": np.frombuffer(b"".join(texts), np.uint8),
        prefix + "lengths": smallest(np.array([len(text) for text in texts], np.int64)),
    }


def tables_from_arrays(
    described: Any, tensors: Mapping[str, Tensor], pass_number: int, bad: Bad
) -> WordTables:
    """Return the tables that tables_as_arrays described, every part of them checked."""

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
    forms = strings_from_arrays(tensors, prefix, partial(bad, "tables"))
    columns = []
    for number, values in enumerate(all_values):
        if not isinstance(values, list) or not _are_strings(values):
            refuse("values that are no strings")
        places = _numbers(tensors, f"{prefix}{number}", partial(bad, "tables"))
        if len(places) != len(forms) or max(places, default=0) > len(values):
            refuse("values for other forms than there are")
        columns.append([[ABSENT, *values][place] for place in places])
    return WordTables(tuple(names), dict(zip(forms, zip(*columns, strict=True), strict=True)))


def strings_from_arrays(
    tensors: Mapping[str, Tensor], prefix: str, bad: Callable[[str], Exception]
) -> list[str]:
    """Return what strings_as_arrays was given; `bad` makes the error to raise."""
    lengths = _numbers(tensors, prefix + "lengths", bad)
    text = _numbers(tensors, prefix + "forms", bad)
    ends = list(itertools.accumulate(lengths))
    if text.itemsize != 1 or (ends[-1] if ends else 0) != len(text):
        raise bad("forms of other lengths than the file says")
    whole = text.tobytes()
    try:
        forms = [
            whole[begin:end].decode("utf-8", "surrogatepass")
            for begin, end in zip([0, *ends], ends, strict=False)
        ]
    except UnicodeDecodeError:
        raise bad("forms that are not UTF-8") from None
    if any(one >= two for one, two in itertools.pairwise(forms)):
        raise bad("forms that are not in ascending order")
    return forms


def _numbers(
    tensors: Mapping[str, Tensor], name: str, bad: Callable[[str], Exception]
) -> memoryview:
    tensor = tensors.get(name)
    if tensor is None or len(tensor.shape) != 1 or tensor.dtype not in ("U8", "U16", "U32"):
        raise bad(f"{name} is missing, or not what it should be")
    return tensor.numbers()


def _are_strings(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)
