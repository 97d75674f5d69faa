"""The features of the study: a small fixed set for each word, none of them a tag.

| name | what |
|---|---|
| w=, p=, n= | the word, the one before, the one after, in lower case |
| s1= s2= s3= | its last one, two, three letters, in lower case |
| f1= | its first letter, in lower case |
| shape= | its kinds of character, runs as one: ``Xx`` for ``Lisbon``, ``d-x`` for ``20-year`` |
| ps=, ns= | the last two letters of the word before and of the one after |

``<s>`` and ``</s>`` stand beyond the ends of a sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

BEFORE, AFTER = "<s>", "</s>"


def word_features(words: Sequence[str], place: int) -> list[str]:
    """The features of the word at `place` in a sentence."""
    word = words[place]
    lower = word.lower()
    before = words[place - 1].lower() if place else BEFORE
    after = words[place + 1].lower() if place + 1 < len(words) else AFTER
    return [
        f"w={lower}", f"p={before}", f"n={after}",
        f"s1={lower[-1:]}", f"s2={lower[-2:]}", f"s3={lower[-3:]}", f"f1={lower[:1]}",
        f"shape={shape(word)}", f"ps={before[-2:]}", f"ns={after[-2:]}",
    ]  # fmt: skip


def shape(word: str) -> str:
    """The kinds of a word's characters (X upper, x lower, d digit, others as they are)."""
    kinds = ("X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c
             for c in word)  # fmt: skip
    return "".join(kind for kind, _ in groupby(kinds))


class Columns:
    """The number of each feature, in the order in which they were first seen."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._number)

    def learn(self, features: Sequence[str]) -> list[int]:
        """The numbers of features, new ones among them."""
        return [self._number.setdefault(name, len(self._number)) for name in features]

    def known(self, features: Sequence[str]) -> list[int]:
        """The numbers of those features that have one."""
        return [self._number[name] for name in features if name in self._number]


class Ones:
    """A sparse matrix of ones, in the parts that every sparse matrix by rows has.

    Attributes
    ----------
    indptr : int64[rows + 1], where each row begins in `indices`
    indices : int32[non-zeros], columns
    data : float64[non-zeros], all 1
    shape : (rows, columns)
    """

    def __init__(self, rows: Sequence[Sequence[int]], width: int) -> None:
        columns = [sorted(set(row)) for row in rows]
        self.indptr: NDArray[np.int64] = np.cumsum([0, *map(len, columns)], dtype=np.int64)
        flat = [column for row in columns for column in row]
        self.indices: NDArray[np.int32] = np.array(flat, dtype=np.int32)
        self.data: NDArray[np.float64] = np.ones(len(flat))
        self.shape = (len(rows), width)

    def dense(self, count: int) -> NDArray[np.int64]:
        """The first `count` rows, without the columns that are all zero in them."""
        last = int(self.indptr[count])
        used, column = np.unique(self.indices[:last], return_inverse=True)
        table = np.zeros((count, len(used)), dtype=np.int64)
        table[np.repeat(np.arange(count), np.diff(self.indptr[: count + 1])), column] = 1
        return table
