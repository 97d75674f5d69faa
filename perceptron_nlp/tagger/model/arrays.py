"""One way for the parts of a model into a file and back: a description, and named arrays.

Each part has two methods: ``write(writer)`` puts its arrays and returns its description, which JSON
can hold; ``read(described, reader)`` returns the part, every bit of it checked.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from perceptron_nlp.formats.tensorfile import Tensor
from perceptron_nlp.text.tagset import word_bytes

if TYPE_CHECKING:
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

    def put_strings(self, strings: Sequence[str]) -> None:
        """Take strings in ascending order, as ``forms`` and ``lengths``."""
        # Here, since tagging does without NumPy.
        import numpy as np

        texts = [word_bytes(text) for text in strings]
        self.put("forms", np.frombuffer(b"".join(texts), np.uint8))
        self.put("lengths", smallest(np.array([len(text) for text in texts], np.int64)))


class Reader(NamedTuple):
    """Gives the arrays of a part.

    prefix : the beginning of their names
    tensors : all arrays of a file
    bad : makes the error to raise of a name and what is wrong with it
    """

    prefix: str
    tensors: Mapping[str, Tensor]
    bad: Callable[[str, str], Exception]

    def under(self, name: str) -> Reader:
        """Return a reader for a part of this part."""
        return self._replace(prefix=f"{self.prefix}{name}.")

    def numbers(self, name: str, *dtypes: str) -> memoryview:
        """Return the numbers of an array of one dimension, of one of these types."""
        tensor = self.tensors.get(self.prefix + name)
        if tensor is None:
            raise self.bad(self.prefix + name, "missing")
        if len(tensor.shape) != 1 or tensor.dtype not in dtypes:
            raise self.bad(self.prefix + name, f"{tensor.kind} is not what it should be")
        return tensor.numbers()

    def strings(self) -> list[str]:
        """Return the strings that put_strings took."""
        lengths, text = self.numbers("lengths", *UNSIGNED), self.numbers("forms", "U8")
        ends = list(itertools.accumulate(lengths))
        if (ends[-1] if ends else 0) != len(text):
            raise self.bad(self.prefix + "lengths", "do not add up to the length of the forms")
        whole = text.tobytes()
        try:
            forms = [
                whole[begin:end].decode("utf-8", "surrogatepass")
                for begin, end in zip([0, *ends], ends, strict=False)
            ]
        except UnicodeDecodeError:
            raise self.bad(self.prefix + "forms", "not UTF-8") from None
        if any(one >= two for one, two in itertools.pairwise(forms)):
            raise self.bad(self.prefix + "forms", "not in ascending order")
        return forms


def smallest(numbers: Array) -> Array:
    """Return whole numbers in the narrowest unsigned type of 8 to 32 bits that holds them."""
    import numpy as np

    most = int(numbers.max(initial=0))
    return numbers.astype(np.uint8 if most < 256 else np.uint16 if most < 65536 else np.uint32)


def are_strings(values: object) -> bool:
    """Tell if a value of a description is a list of strings."""
    return isinstance(values, list) and all(isinstance(value, str) for value in values)
