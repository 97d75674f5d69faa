"""Labels that counting settles: nearly all tokens of a word have one, given the labels before it.

A column that comes after others looks up a word with the labels that they gave, and else the word's
longest ending that is known with its shape (settle.h). What is found is the label; only the tokens
that are left open are labeled by the model. Keys are 32 bits of a hash, so that one lookup in some
100,000 finds what was never counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from perceptron_nlp._core.features.extract import hash64, views_of
from perceptron_nlp._core.model.modelrows import extremes, rise
from perceptron_nlp._core.tag.decode import SettledTable
from perceptron_nlp.tagger.model.weights import Reader, Writer, are_strings, smallest, whole
from perceptron_nlp.text.tagset import word_bytes, word_hash

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

LONGEST_ENDING, LONGEST_SETTLED = 5, 64
"""Letters of an ending; bytes of a word of which endings are looked at."""
MOST_BEFORE = 3
"""Columns before."""
_ALL, _ODD = 2**64 - 1, 0x9E3779B185EBCA87
_LOWER, _SHAPE = 1, 3


class Rule(NamedTuple):
    """How often words, and endings, must have been met, and with what share of one label.

    A count of 0 leaves them open.
    """

    words: int = 0
    words_share: float = 1.0
    endings: int = 0
    endings_share: float = 1.0


class _Counted(NamedTuple):
    columns: tuple[str, ...]
    rule: Rule
    rates: tuple[float, float]
    keys: npt.NDArray[np.uint32] | memoryview
    labels: npt.NDArray[Any] | memoryview
    looks_first: bool
    lead: float = 0.0


class Settled(_Counted):
    """What settles labels of a column.

    columns : those before, whose labels it is given
    rule : by which they were counted
    rates : the accuracy of what words settle, and of what endings do
    keys : uint32[n], ascending; the upper halves of the hashes of what is known
    labels : of each the number of the label + 1; 0 where it is open
    looks_first : endings of the first word of a sentence stand for themselves
    lead : of the first column's label, in scores, with which this holds; else all have their say
    """

    def table(self, before: Sequence[Sequence[str]] = ()) -> SettledTable:
        """Return its core form; `before` has the labels of each column before, by number."""
        hashes = [[word_hash(label) for label in own] for own in before]
        n_before, first = len(self.columns), self.looks_first
        return SettledTable(self.keys, self.labels, first, n_before, hashes, self.lead)

    @cached_property
    def find(self) -> Callable[[str, bool, Sequence[str]], tuple[int, bool] | None]:
        """What finds the label's number of a word, and whether its ending settles it, or None.

        It takes the word, whether it is the first of its sentence, and the labels before.
        """
        table, hashes = self.table(), lru_cache(word_hash)
        return lambda word, is_first, before: table.find(
            word_bytes(word), is_first, [hashes(label) for label in before]
        )

    def write(self, writer: Writer) -> dict[str, Any]:
        """Return the description in a model file, and put the arrays."""
        # Here, since tagging does without NumPy.
        import numpy as np

        writer.put("keys", np.asarray(self.keys))
        writer.put("numbers", smallest(np.asarray(self.labels)))
        return {
            "columns": list(self.columns),
            "rule": list(self.rule),
            "rates": list(self.rates),
            "first": self.looks_first,
            "lead": self.lead,
        }

    @classmethod
    def read(cls, described: Any, reader: Reader, n_labels: int) -> Settled:
        """Return what `write` described, every part checked."""
        keys, labels = reader.numbers("keys", "U32"), reader.numbers("numbers", "U8", "U16", "U32")
        columns, first = described["columns"], described["first"]
        if not are_strings(columns) or len(columns) > MOST_BEFORE or not isinstance(first, bool):
            raise reader.bad("settled", "by other columns than there can be")
        counts, lead = described["rule"], described["lead"]
        numbers = [*counts, *described["rates"], lead]
        if len(numbers) != 7 or any(type(x) not in (int, float) or not x >= 0 for x in numbers):
            raise reader.bad("settled", "numbers that there cannot be")
        fits = len(labels) == len(keys) and extremes(labels)[1] <= n_labels
        if not fits or not rise(keys, whole(keys)):
            raise reader.bad("settled", "keys out of order, or labels beyond those that there are")
        low, high = map(float, described["rates"])
        return cls(tuple(columns), Rule(*counts), (low, high), keys, labels, first, float(lead))


def key_of(text: bytes, before: Iterable[str]) -> int:
    """Return the key of a word or an ending (endings_of) with the labels before."""
    found = hash64(text)
    for label in before:
        found = ((found ^ word_hash(label)) * _ODD) & _ALL
        found ^= found >> 29
    return found >> 32


@lru_cache(maxsize=1 << 16)
def endings_of(word: str, is_first: bool) -> list[bytes]:
    """Return what is looked up of a word that is not known itself, the longest ending first."""
    encoded = word_bytes(word)
    if len(encoded) > LONGEST_SETTLED:
        return []
    views = views_of(encoded)
    letters = views[_LOWER].decode("utf-8", "surrogatepass")
    start = b"\t" + b"^" * is_first + views[_SHAPE] + b"\t"
    longest = min(LONGEST_ENDING, len(letters))
    return [start + word_bytes(letters[len(letters) - k :]) for k in range(longest, -1, -1)]
