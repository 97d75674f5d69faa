"""Agreement of columns: the combinations of part of speech, tag and features that training met.

Each column of a tagger is labeled by itself, and now and then two of them contradict each other: a
noun with the tag of a determiner. Tagged together, the columns of a token get only combinations of
labels that some token of the training text had.

Labels of parts of speech are fewer than those of the other columns and surer, but in a sum of
scores they are one voice of three: so they may count more.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from perceptron_nlp.tagger.model.label_components import AGREEING, JOINT, features_of, forms_of
from perceptron_nlp.tagger.model.weights import Reader, Writer

if TYPE_CHECKING:
    from perceptron_nlp.text.tagset import TagSet

MOST_COMBINATIONS = 1 << 23
"""Entries that a table of combinations, met or not, may have."""
_ROWS = "agreement.rows"
Numbers = tuple[int, ...]


class ColumnModel(Protocol):
    """The labels of a column's model; see TaggerModel."""

    @property
    def column(self) -> str: ...

    @property
    def tags(self) -> TagSet: ...

    @property
    def scheme(self) -> str | None: ...

    @property
    def written_labels(self) -> frozenset[str]: ...

    @property
    def can_agree(self) -> bool: ...


class Combinations(NamedTuple):
    """Combinations in numbers of labels; those that differ in the last column alone share bits.

    A bit stands for each label of the last column: that of label n is bit n % 8 of byte n // 8.

    Attributes
    ----------
    prefixes : the numbers of the labels of all columns but the last; ascending
    met : for each prefix the labels of the last column that were met with it
    staying : these, and further ones that may stay beside it, but are not looked for
    """

    prefixes: list[Numbers]
    met: list[bytes]
    staying: list[bytes]


class Agreement(NamedTuple):
    """Combinations of labels that were met.

    Attributes
    ----------
    columns : two or three of AGREEING, in this order
    rows : the labels of each combination as the columns write them; ascending
    upos_weight : what scores of parts of speech are multiplied by before they are summed
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    upos_weight: float = 1.0

    @classmethod
    def of(
        cls, labels: Mapping[str, Iterable[str | None]], upos_weight: float = 1.0
    ) -> Agreement | None:
        """Return what a text shows; None if fewer than two of the columns can agree in it.

        Parameters
        ----------
        labels : by column, those of all tokens, None where one has none: what the token has goes
            with all labels of that column if no token with a label there has it
        """
        columns = tuple(name for name in AGREEING if name in labels)
        if len(columns) < 2:
            return None
        met: set[tuple[str | None, ...]] = {*zip(*(labels[name] for name in columns), strict=True)}
        whole = {row for row in met if None not in row}
        rows = _with_gaps_filled(whole, met - whole)
        return cls(columns, tuple(sorted(rows)), upos_weight) if rows else None

    def within(self, columns: Iterable[str]) -> Agreement | None:
        """Return the combinations of some of the columns; None if fewer than two are there."""
        there = {*columns}
        places = [place for place, name in enumerate(self.columns) if name in there]
        if len(places) == len(self.columns):
            return self
        if len(places) < 2:
            return None
        rows = {tuple(row[place] for place in places) for row in self.rows}
        own = tuple(self.columns[place] for place in places)
        return Agreement(own, tuple(sorted(rows)), self.upos_weight)

    def united(self, other: Agreement | None) -> Agreement | None:
        """Return the combinations of both; None if the other has none, or of other columns.

        Parts of speech count as in that where they count more.
        """
        if other is None or other.columns != self.columns:
            return None
        weight = max(self.upos_weight, other.upos_weight)
        return Agreement(self.columns, tuple(sorted({*self.rows, *other.rows})), weight)

    def is_small(self, models: Mapping[str, ColumnModel]) -> bool:
        """Return True if the tables of its combinations have room, given the columns' models."""
        *others, last = (len(models[name].tags) for name in self.columns)
        n_prefixes = len({row[:-1] for row in self.rows})
        return max(math.prod(others), n_prefixes * last) <= MOST_COMBINATIONS

    def table(self, models: Mapping[str, ColumnModel]) -> Combinations:
        """Return the combinations in numbers of learned labels.

        Features that were learned with parts of speech go with their own. Labels that were put
        together of pieces (see closure) were never met; they may stay beside those with which
        their part of speech was.

        Parameters
        ----------
        models : that of each column
        """
        own = [models[name] for name in self.columns]
        forms: list[dict[str, list[int]]] = [{} for _ in own]
        for place, model in enumerate(own):
            for number, label in enumerate(model.tags):
                for form in forms_of(label, model.scheme):
                    forms[place].setdefault(form, []).append(number)
        last, width = own[-1], len(own[-1].tags) // 8 + 1
        joint = last.scheme == JOINT
        has_upos = joint and self.columns[0] == AGREEING[0]
        upos = [label.partition("|")[0] if has_upos else "" for label in last.tags]
        met: dict[Numbers, bytearray] = {}
        for row in self.rows:
            *firsts, ends = (form.get(label, []) for form, label in zip(forms, row, strict=True))
            if has_upos:
                ends = [number for number in ends if upos[number] == row[0]] or ends
            for numbers in itertools.product(*firsts) if ends else ():
                bits = met.setdefault(numbers, bytearray(width))
                for number in ends:
                    bits[number // 8] |= 1 << number % 8
        unmet: dict[str, bytearray] = {}
        trained = {row[-1] for row in self.rows}
        for number, label in enumerate(last.tags if joint else ()):
            if features_of(label) not in trained:
                bits = unmet.setdefault(upos[number], bytearray(width))
                bits[number // 8] |= 1 << number % 8
        prefixes = sorted(met)
        staying = []
        for prefix in prefixes:
            more = unmet.get(own[0].tags.label_of(prefix[0]) if has_upos else "", b"")
            both = int.from_bytes(met[prefix], "little") | int.from_bytes(more, "little")
            staying.append(both.to_bytes(width, "little"))
        return Combinations(prefixes, [bytes(met[prefix]) for prefix in prefixes], staying)


def _with_gaps_filled(
    whole: Iterable[tuple[Any, ...]], partial: Iterable[tuple[str | None, ...]]
) -> set[tuple[str, ...]] | None:
    """Return whole combinations, and all that may be meant by partial ones that no whole one shows.

    None if these are too many.
    """
    found = {*whole}
    own = [sorted({*labels}) for labels in zip(*found, strict=True)]
    shown: dict[tuple[bool, ...], set[tuple[str | None, ...]]] = {}
    ways = []
    for row in partial if found else ():
        gaps = tuple([label is None for label in row])
        if gaps not in shown:
            shown[gaps] = {
                tuple([None if gap else one for one, gap in zip(other, gaps, strict=True)])
                for other in found
            }
        if row not in shown[gaps]:
            ways.append(
                [all_of if one is None else [one] for one, all_of in zip(row, own, strict=True)]
            )
    if sum(math.prod(map(len, way)) for way in ways) > MOST_COMBINATIONS:
        return None
    return found.union(*(itertools.product(*way) for way in ways))


def write_agreement(
    agreement: Agreement, models: Mapping[str, ColumnModel], writer: Writer
) -> list[str] | None:
    """Return the columns, and put the array; None if fewer than two columns are there."""
    # Here, since tagging does without NumPy.
    import numpy as np

    within = agreement.within(models)
    if within is None:
        return None
    numbers = [_numbers(models[name]) for name in within.columns]
    rows = [
        [own[label] for own, label in zip(numbers, row, strict=True)]
        for row in within.rows
        if all(label in own for own, label in zip(numbers, row, strict=True))
    ]
    writer.put(_ROWS, np.array(rows, np.uint16).reshape(-1))
    return list(within.columns)


def read_agreement(
    columns: Any, upos_weight: float, models: Mapping[str, ColumnModel], reader: Reader
) -> Agreement:
    """Return the agreement in a model file, every part of it checked."""
    bad = reader.bad
    if not (math.isfinite(upos_weight) and upos_weight > 0):
        raise bad("upos_weight", "not a positive number")
    if columns != [name for name in AGREEING if name in columns] or len(columns) < 2:
        raise bad("agreement", "of other columns")
    if not all(name in models and models[name].can_agree for name in columns):
        raise bad("agreement", "of columns that the model does not fill")
    labels = [list(_numbers(models[name])) for name in columns]
    flat = reader.numbers(_ROWS, "U16").tolist()
    by_column = [flat[place :: len(columns)] for place in range(len(columns))]
    rows = list(zip(*by_column, strict=False))
    if len(flat) % len(columns) or rows != sorted({*rows}):
        raise bad("agreement", "combinations that are cut short or not ascending")
    if any(
        max(own, default=0) >= len(all_of) for own, all_of in zip(by_column, labels, strict=True)
    ):
        raise bad("agreement", "labels beyond those that there are")
    named = ([all_of[n] for n in own] for own, all_of in zip(by_column, labels, strict=True))
    agreement = Agreement(tuple(columns), tuple(zip(*named, strict=True)), upos_weight)
    if not agreement.is_small(models):
        raise bad("agreement", f"of more than {MOST_COMBINATIONS:,} combinations, met or not")
    return agreement


def _numbers(model: ColumnModel) -> dict[str, int]:
    """Return the number of each label as its column writes it, in code point order."""
    return {label: number for number, label in enumerate(sorted(model.written_labels))}
