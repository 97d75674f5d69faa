"""One sentence taken apart: each feature of each word by itself, with the row of its weights.

Nothing here uses what tagging keeps to be fast (sums of words and pairs, tables of labels, scores
of 16 bits): features are made one by one from the templates, and looked up one by one.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.features.extract import FeatureProgram, hash64
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.features.readable import ReadableTemplates, value_texts
from perceptron_nlp.features.templates import (
    ALWAYS,
    FIRST,
    LAST,
    MANY,
    NOT_FIRST,
    Atom,
    compile_templates,
)
from perceptron_nlp.tagger.model.label_components import part_numbers
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.text.tagset import word_bytes, word_hash

_Ints = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]
# The template of a feature, which of the many values of it (0 where there is one), and its key.
_Feature = tuple[int, int, int]
_REMEMBERED = 100_000


def _packed(number: int) -> bytes:
    return number.to_bytes(8, "little")


def _mark(name: bytes) -> bytes:
    """The hash of what is no value of a word: no UTF-8 text holds the byte 0xFF."""
    return _packed(hash64(b"\xff" + name))


_NO_LABEL, _BIAS = _mark(b"start"), _mark(b"bias")
_YES, _NO = _mark(b"yes"), _mark(b"no")


class ModelFeatures:
    """The templates and weights of a model, ready to make and look up single features.

    Parameters
    ----------
    model : what was trained
    """

    def __init__(self, model: TaggerModel) -> None:
        self.model = model
        self.readable = ReadableTemplates(model.templates, model.right_to_left)
        self.compiled = compile_templates(model.templates)
        self._program = FeatureProgram(self.compiled)
        self._slots: dict[tuple[int, bytes | None, int], list[_Feature]] = {}
        self._values: dict[tuple[Atom, str], bytes] = {}
        self.label_hashes = [*map(_packed, map(word_hash, model.tags)), _NO_LABEL]
        if model.parts is None:
            own = [[number] for number in range(len(model.tags))]
        else:
            own = part_numbers(model.tags.labels, model.parts)[0]
        # The numbers of all labels' components, one label after the other, and where each begins.
        self._components = np.array(list(itertools.chain(*own)), np.int64)
        self._starts = np.cumsum([0, *map(len, own)])[:-1]
        self.n_components = int(self._components.max(initial=-1)) + 1
        self.components_of = own

    def slot(self, number: int, text: bytes | None, distance: int) -> list[_Feature]:
        """Return the features of a string by a slot; of None, a place beyond the ends."""
        key = number, text, distance
        found = self._slots.get(key)
        if found is None:
            if len(self._slots) >= _REMEMBERED:
                self._slots.clear()
            features = self._program.slot_features(number, text, distance)
            found = self._slots[key] = [
                (template, gram, own)
                for template, group in itertools.groupby(features, key=lambda one: one[0])
                for gram, (_, own) in enumerate(group)
            ]
        return found

    def value(self, atom: Atom, word: str) -> bytes:
        """Return the hash of what an atom of one value sees in a word."""
        found = self._values.get((atom, word))
        if found is None:
            if len(self._values) >= _REMEMBERED:
                self._values.clear()
            assert atom.value is not None and atom.value.affix not in MANY
            [text] = value_texts(word, atom.value)
            found = self._values[atom, word] = _packed(hash64(word_bytes(text)))
        return found

    def scores(self, sums: _Ints) -> _Ints:
        """Return the scores of labels (n, n_labels), of sums of their components' weights."""
        if self.model.parts is None:
            return sums
        return np.add.reduceat(sums[:, self._components], self._starts, axis=1)


def rows_of(model: TaggerModel, templates: _Ints, keys: Keys) -> _Ints:
    """Return the row of each feature, -1 where the model has no weights for it."""
    weights = model.weights
    rows = np.full(len(keys), -1)
    if weights.table_bits is not None:
        keys, templates = keys >> np.uint64(64 - weights.table_bits), np.zeros_like(templates)
    for group in np.unique(templates).tolist():
        first, last = weights.group_starts[group : group + 2].tolist()
        here = np.flatnonzero(templates == group)
        at = first + np.searchsorted(weights.keys[first:last], keys[here])
        there = at < last
        there[there] = weights.keys[at[there]] == keys[here[there]]
        rows[here[there]] = at[there]
    return rows


class SentenceFeatures:
    """The features of one sentence under a model.

    Parameters
    ----------
    features : of the model
    columns : by name, the words first, the values of the words
    """

    def __init__(self, features: ModelFeatures, columns: Mapping[str, Sequence[str]]) -> None:
        self._of = features
        self._columns = [columns[name] for name in features.compiled.columns]
        self._by_name = columns
        self._bytes = [[word_bytes(text) for text in column] for column in self._columns]
        self._n = len(self._columns[0])
        self._step = 1 if features.model.right_to_left else -1
        self._still: _Ints | None = None

    def _still_features(self, i: int) -> list[_Feature]:
        """The features of word i that no label takes part in."""
        compiled, found = self._of.compiled, []
        applies = {ALWAYS: True, NOT_FIRST: i > 0, FIRST: i == 0, LAST: i == self._n - 1}
        for number, (column, offset, condition) in enumerate(compiled.slots):
            if applies.get(condition, i < self._n - 1):
                at = i + offset
                inside = 0 <= at < self._n
                distance = 0 if inside else at if at < 0 else at - self._n + 1
                text = self._bytes[column][at] if inside else None
                found += self._of.slot(number, text, distance)
        found += [(number, 0, self._key(number, i, ())) for number in compiled.static]
        return found

    def _history_features(self, i: int, past: Sequence[bytes]) -> list[_Feature]:
        """The features of word i that the labels before it take part in, the last one first."""
        return [(number, 0, self._key(number, i, past)) for number in self._of.compiled.history]

    def _key(self, number: int, i: int, past: Sequence[bytes]) -> int:
        """The key of a template that looks at several words, or at labels."""
        atoms = self._of.model.templates[number].atoms
        hashes = b"".join([self._hash(atom, i, past) for atom in atoms])
        return hash64(hashes, self._of.compiled.seeds[number])

    def _hash(self, atom: Atom, i: int, past: Sequence[bytes]) -> bytes:
        if atom.value is None:
            if atom.kind == "tag":
                return past[-atom.offset - 1]
            if atom.kind == "bias":
                return _BIAS
            return _YES if i == (0 if atom.kind == "first" else self._n - 1) else _NO
        at = i + atom.offset
        if 0 <= at < self._n:
            return self._of.value(atom, self._by_name[atom.value.column][at])
        return _mark(b"L%d" % -at if at < 0 else b"R%d" % (at - self._n + 1))

    def _past(self, labels: Sequence[int]) -> list[bytes]:
        """The hashes of the labels given before, the last one first, as far as templates look."""
        hashes = [self._of.label_hashes[number] for number in labels[:4]]
        return hashes + [_NO_LABEL] * (4 - len(hashes))

    def keyed(self, labels: Sequence[int]) -> tuple[_Ints, _Ints, _Ints, Keys]:
        """Return all features, with weights or without, when the words are given these labels.

        Parameters
        ----------
        labels : label numbers, in the order of the text; n_labels stands for none

        Returns
        -------
        (starts, templates, grams, keys) : int64[n + 1], where each word's features begin;
            int64[m], the template of each; int64[m], which of the many values of its template it
            is (0 where there is one); uint64[m]

        Raises
        ------
        ArgumentError : another number of labels than of words
        """
        if len(labels) != self._n:
            raise ArgumentError(f"labels: {len(labels)} for {self._n} words")
        starts, found = [0], []
        for i in range(self._n):
            before = labels[i + 1 :] if self._step > 0 else labels[:i][::-1]
            found += self._still_features(i)
            found += self._history_features(i, self._past(before))
            starts.append(len(found))
        return (
            np.array(starts),
            np.array([one[0] for one in found], np.int64),
            np.array([one[1] for one in found], np.int64),
            np.array([one[2] for one in found], np.uint64),
        )

    def fired(self, labels: Sequence[int]) -> tuple[_Ints, _Ints, _Ints, _Ints, _Ints]:
        """Return the features that the model has weights for, and what they add up to.

        Returns
        -------
        (starts, templates, grams, rows, scores) : the first three as from `keyed`; int64[m], what
            `weights` takes; int64[n, n_labels], the sums
        """
        starts, templates, grams, keys = self.keyed(labels)
        rows = rows_of(self._of.model, templates, keys)
        has_row = rows >= 0
        starts = np.concatenate(([0], np.cumsum(has_row)))[starts]
        rows = rows[has_row]
        words = np.repeat(np.arange(self._n), np.diff(starts))
        scores = self._of.scores(self._sums(words, rows, self._n))
        return starts, templates[has_row], grams[has_row], rows, scores

    def _cells(self, rows: _Ints) -> tuple[_Ints, _Ints, _Ints]:
        """The cells of rows: the place of the row among these, the component, the weight."""
        weights = self._of.model.weights
        first = weights.starts[rows]
        counts = weights.starts[rows + 1] - first
        row = np.repeat(np.arange(len(rows)), counts)
        before = np.cumsum(counts) - counts
        cells = np.arange(len(row)) + (first - before)[row]
        return row, weights.labels[cells].astype(np.int64), weights.weights[cells].astype(np.int64)

    def _sums(self, words: _Ints, rows: _Ints, n: int) -> _Ints:
        """Add the weights of rows up, component by component, each row for its word."""
        sums = np.zeros((n, self._of.n_components), np.int64)
        row, component, weight = self._cells(rows)
        np.add.at(sums, (words[row], component), weight)
        return sums

    def weights(self, starts: _Ints, rows: _Ints, labels: Sequence[int]) -> _Ints:
        """Return the weight of each feature for its word's label, of all the label's components.

        Parameters
        ----------
        starts, rows : what `fired` returned
        labels : label numbers; -1 for no label, for which all weights are 0

        Returns
        -------
        int64[m]
        """
        wanted = np.zeros((self._n, self._of.n_components), bool)
        for i, label in enumerate(labels):
            if label >= 0:
                wanted[i, self._of.components_of[label]] = True
        words = np.repeat(np.arange(self._n), np.diff(starts))
        row, component, weight = self._cells(rows)
        found = np.zeros(len(rows), np.int64)
        np.add.at(found, row, weight * wanted[words[row], component])
        return found

    def after(self, i: int, past: Sequence[int]) -> _Ints:
        """Return the scores of all labels for a word after some labels.

        Parameters
        ----------
        i : the word, from 0
        past : numbers of labels, the last given first; none stands where it ends

        Returns
        -------
        int64[n_labels]

        Raises
        ------
        ArgumentError : there is no such word
        """
        if not 0 <= i < self._n:
            raise ArgumentError(f"i: {i} is not a word of {self._n}")
        if self._still is None:
            found = [self._still_features(k) for k in range(self._n)]
            self._still = self._added(found)
        own = self._added([self._history_features(i, self._past(past))])
        scores: _Ints = self._of.scores(self._still[i : i + 1] + own)[0]
        return scores

    def _added(self, found: list[list[_Feature]]) -> _Ints:
        """The sums of the weights of lists of features, by component."""
        flat = list(itertools.chain(*found))
        rows = rows_of(
            self._of.model,
            np.array([one[0] for one in flat], np.int64),
            np.array([one[2] for one in flat], np.uint64),
        )
        words = np.repeat(np.arange(len(found)), list(map(len, found)))
        has_row = rows >= 0
        return self._sums(words[has_row], rows[has_row], len(found))
