"""Quantized weights, and how they and all other parts of a model go into a file and back.

Averages are small integers, sorted. Each part of a model has two methods: ``write(writer)`` puts
its arrays and returns its description, which JSON can hold; ``read(described, reader)`` returns the
part, every bit of it checked.
"""

from __future__ import annotations

import functools
import json
import math
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias

from perceptron_nlp._core.model.modelrows import extremes, in_16_bits, rise, starts_of, strings_rise
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.formats.tensorfile import Tensor
from perceptron_nlp.text.tagset import Strings

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"
UNSIGNED = ("U8", "U16", "U32")
"""Types of arrays that are written in the narrowest one."""


class Writer(NamedTuple):
    """Takes the arrays of a part.

    prefix : the beginning of their names
    arrays : those of the whole model so far
    """

    prefix: str
    arrays: dict[str, Array]

    def under(self, name: str) -> Writer:
        """Return a writer for a part of this part."""
        return Writer(f"{self.prefix}{name}.", self.arrays)

    def put(self, name: str, array: Array) -> None:
        """Take an array."""
        self.arrays[self.prefix + name] = array

    def put_strings(self, strings: Strings) -> None:
        """Take strings in ascending order, as ``forms`` and ``lengths``."""
        # Here, since tagging does without NumPy.
        import numpy as np

        self.put("forms", np.frombuffer(strings.text, np.uint8))
        self.put("lengths", smallest(np.diff(np.frombuffer(strings.starts, np.int64))))


class Reader(NamedTuple):
    """Gives the arrays of a part.

    prefix : the beginning of their names
    tensors : all arrays of a file
    bad : makes the error to raise of a name and what is wrong with it
    again : None, or unpacks once more the arrays whose names begin so
    """

    prefix: str
    tensors: Mapping[str, Tensor]
    bad: Callable[[str, str], Exception]
    again: Callable[[str], Mapping[str, Tensor]] | None = None

    def under(self, name: str) -> Reader:
        """Return a reader for a part of this part."""
        return self._replace(prefix=f"{self.prefix}{name}.")

    def numbers(self, name: str, *dtypes: str) -> memoryview:
        """Return the numbers of an array of one dimension, of one of these types."""
        return self.tensor(name, *dtypes).numbers()

    def tensor(self, name: str, *dtypes: str) -> Tensor:
        """Return an array of one dimension, of one of these types."""
        tensor = self.tensors.get(self.prefix + name)
        if tensor is None:
            raise self.bad(self.prefix + name, "missing")
        if len(tensor.shape) != 1 or tensor.dtype not in dtypes:
            raise self.bad(self.prefix + name, f"{tensor.kind} is not what it should be")
        return tensor

    def strings(self) -> Strings:
        """Return the strings that put_strings took."""
        lengths, text = self.numbers("lengths", *UNSIGNED), self.numbers("forms", "U8")
        starts = starts_of(lengths)
        if starts[-1] != len(text):
            raise self.bad(self.prefix + "lengths", "do not add up to the length of the forms")
        try:
            str(text, "utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise self.bad(self.prefix + "forms", "not UTF-8") from None
        if not strings_rise(text, starts):
            raise self.bad(self.prefix + "forms", "not whole characters in ascending order")
        return Strings(text, starts)


def smallest(numbers: Array) -> Array:
    """Return whole numbers in the narrowest unsigned type of 8 to 32 bits that holds them."""
    import numpy as np

    most = int(numbers.max(initial=0))
    return numbers.astype(np.uint8 if most < 256 else np.uint16 if most < 65536 else np.uint32)


def are_strings(values: object) -> bool:
    """Tell if a value of a description is a list of strings."""
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


# JSON has numbers of any size; a file of ours has none that these do not hold.
_MOST_INT = 2**64
LARGEST = 32767
_ARRAYS = ("keys", "group_starts", "starts", "labels", "weights")


class QuantizedWeights:
    """Weights in units of 1 / scale, rows grouped by template and sorted by key.

    keys : uint64[n_rows], ascending within each group
    group_starts : int64[n_groups + 1]; group g has the rows group_starts[g] to
        group_starts[g + 1]
    starts : int64[n_rows + 1]; row r has the cells starts[r] to starts[r + 1]
    labels : uint16[n_cells], ascending within a row
    weights : int16[n_cells], none of them 0
    scale : a power of two, or eighths of one
    table_bits : None (exact keys) or the size of the fixed table
    n_rows : features with a weight that is not 0
    n_cells : weights that are not 0
    """

    keys: npt.NDArray[np.uint64]
    group_starts: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    labels: npt.NDArray[np.uint16]
    weights: npt.NDArray[np.int16]

    def __init__(
        self,
        *,
        scale: float,
        table_bits: int | None,
        again: Callable[[], dict[str, Any]] | None = None,
        **buffers: Any,
    ) -> None:
        self.scale = scale
        self.table_bits = table_bits
        self.n_rows, self.n_cells = len(buffers["keys"]), len(buffers["weights"])
        self._buffers: dict[str, Any] | None = buffers
        self._again = again

    @property
    def buffers(self) -> dict[str, Any]:
        """The arrays by name, of a file as memoryviews: tagging does without NumPy."""
        found = self._buffers
        if found is None and self._again is not None:
            found = self._buffers = self._again()
        assert found is not None
        return found

    def let_go(self) -> None:
        """Forget the arrays if a file has them packed; they are made again for whoever asks."""
        if self._again is not None:
            self._buffers = None
            for name in _ARRAYS:
                self.__dict__.pop(name, None)

    def __getattr__(self, name: str) -> Any:
        if name not in _ARRAYS:
            raise AttributeError(name)
        # Here, since who does not look at an array does without NumPy.
        import numpy as np

        array = self.__dict__[name] = np.asarray(self.buffers[name])
        return array

    def replace(self, **changes: Any) -> QuantizedWeights:
        """Return the same weights with some attributes changed."""
        own = {"scale": self.scale, "table_bits": self.table_bits, **self.buffers}
        return QuantizedWeights(**{**own, **changes})

    def write(self, writer: Writer) -> dict[str, Any]:
        """Return the description in a model file, and put the arrays."""
        import numpy as np

        narrow = self.labels.max(initial=0) < 256
        writer.put("keys", self.keys)
        writer.put("group_starts", self.group_starts)
        writer.put("counts", smallest(np.diff(self.starts)))
        writer.put("labels", self.labels.astype(np.uint8) if narrow else self.labels)
        writer.put("weights", self.weights)
        return {"table_bits": self.table_bits, "scale": self.scale}

    @classmethod
    def read(
        cls, described: Mapping[str, Any], reader: Reader, shape: tuple[int, int]
    ) -> QuantizedWeights:
        """Return the weights of a file, every part of them checked.

        shape : how many labels, or components of labels, and how many templates there are
        """
        n_labels, n_groups = shape
        bad, named = reader.bad, reader.prefix
        bits, scale = _table_bits(described, bad), _scale(described, bad)
        arrays = _arrays_of(reader)
        keys, group_starts, starts, labels, weights = (arrays[name] for name in _ARRAYS)
        counts = reader.numbers("counts", *UNSIGNED)
        if len(counts) != len(keys) or len(labels) != len(weights):
            raise bad(f"{named}counts, {named}labels", "of another length than keys and weights")
        # What was packed in rows cannot have empty ones, or labels that fall.
        in_rows = reader.tensor("labels", "U8", "U16").starts is not None
        adds_up = len(starts) == len(keys) + 1 and starts[-1] == len(weights)
        if not adds_up or not (in_rows or extremes(counts)[0] > 0):
            raise bad(named + "counts", "do not add up to the number of weights")
        if extremes(labels)[1] >= n_labels:
            raise bad(named + "labels", f"beyond the {n_labels} labels that there are")
        if extremes(weights)[0] == 0:
            raise bad(named + "weights", "some are 0")
        borders = group_starts.tolist()
        if (
            len(borders) != n_groups + 1
            or borders[0] != 0
            or borders[-1] != len(keys)
            or borders != sorted(borders)
        ):
            raise bad(named + "group_starts", "do not divide the rows among the templates")
        if bits is not None and any(keys[end - 1] >= 1 << bits for end in borders if end):
            raise bad(named + "keys", "beyond the fixed table")
        # A row of a fixed table belongs to all templates, so there rows are all one group.
        if not rise(keys, group_starts if bits is None else whole(keys)):
            raise bad(named + "keys", "not in ascending order")
        if not (in_rows or rise(labels, starts)):
            raise bad(named + "labels", "not in ascending order")
        again = None
        if reader.again is not None:
            # Not a reader of the arrays that there are: they would stay.
            again = functools.partial(_arrays_again, named, reader.again)
        return cls(scale=scale, table_bits=bits, again=again, **arrays)

    def groups(self) -> npt.NDArray[Any]:
        """int64[n_rows]: the template of each row."""
        import numpy as np

        return np.repeat(np.arange(len(self.group_starts) - 1), np.diff(self.group_starts))


def _arrays_of(reader: Reader) -> dict[str, memoryview]:
    """Return the arrays of weights as tagging takes them."""
    in_rows = reader.tensor("labels", "U8", "U16")
    return {
        "keys": reader.numbers("keys", "U64"),
        "group_starts": reader.numbers("group_starts", "I64"),
        "starts": in_rows.starts or starts_of(reader.numbers("counts", *UNSIGNED)),
        "labels": in_16_bits(in_rows.numbers()),
        "weights": reader.numbers("weights", "I16"),
    }


def _arrays_again(
    prefix: str, unpack: Callable[[str], Mapping[str, Tensor]]
) -> dict[str, memoryview]:
    return _arrays_of(Reader(prefix, unpack(prefix), KeyError))


Bad = Callable[[str, str], Exception]

# A row of a compressed model is told by so many bits of its key at most.
MOST_TABLE_BITS = 48


def whole(numbers: memoryview) -> memoryview:
    """Return the begin and end of numbers that are one row, as int64."""
    return memoryview(bytes(8) + len(numbers).to_bytes(8, sys.byteorder)).cast("q")


def _table_bits(described: Mapping[str, Any], bad: Bad) -> int | None:
    bits = described["table_bits"]
    if bits is not None and (type(bits) is not int or not 1 <= bits <= MOST_TABLE_BITS):
        raise bad("table_bits", "out of range")
    return bits


def _scale(described: Mapping[str, Any], bad: Bad) -> float:
    scale = described["scale"]
    if not isinstance(scale, float) or not math.isfinite(scale) or scale <= 0:
        raise bad("scale", "not a positive number")
    # Scores are whole numbers of 32 bits before they are divided by it.
    if not math.isfinite(2**31 / scale):
        raise bad("scale", "so small that scores would be infinite")
    return scale


def checked_object(value: Any, name: str) -> dict[str, Any]:
    """The value itself; ValueError where it is no JSON object."""
    if not isinstance(value, dict):
        raise ValueError(f"{name} is not a JSON object")
    return value


def to_json(value: Any) -> str:
    """A value as JSON in one line, keys in the order of their code points."""
    try:
        text = json.dumps(
            value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
        )
        text.encode("utf-8")
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"the model cannot be written: {error}") from None
    return text


def object_in(text: str, name: str) -> dict[str, Any]:
    """The JSON object in a text; ValueError where it holds something else."""
    return checked_object(_loaded(text), name)


def objects_in(text: str, name: str) -> list[dict[str, Any]]:
    """The list of JSON objects in a text; ValueError where it holds something else."""
    value = _loaded(text)
    if not isinstance(value, list):
        raise ValueError(f"{name} is not a JSON list")
    return [checked_object(one, name) for one in value]


def strings_in(text: str, name: str) -> list[str]:
    """The list of strings in a text; ValueError where it holds something else."""
    value = _loaded(text)
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError(f"{name} is not a list of strings")
    return value


def _loaded(text: str) -> Any:
    """A JSON text's value; ValueError for numbers that are none or of a size never written."""
    return json.loads(text, parse_int=_int, parse_float=_float, parse_constant=_refuse)


def _int(digits: str) -> int:
    number = int(digits)
    return number if abs(number) < _MOST_INT else _refuse(digits)


def _float(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse(digits)


def _refuse(digits: str) -> NoReturn:
    raise ValueError(f"{digits[:20]} is not a number of a model file")
