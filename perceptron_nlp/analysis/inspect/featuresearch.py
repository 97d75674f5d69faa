"""The features that a model's templates make of a text.

A model holds hashes of its features and not their names, so what a row of its table stands for
can only be told of features that some text has. Here the templates are run over a text, and each
feature is known by the first place that has it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from perceptron_nlp import Sentence, TaggerModel
from perceptron_nlp._core.features.extract import FeatureProgram
from perceptron_nlp._core.features.hashing import hash64, hash_words
from perceptron_nlp.errors import ArgumentError, quote
from perceptron_nlp.features.readable import ReadableFeatures, ReadableTemplates
from perceptron_nlp.features.templates import Atom, compile_templates
from perceptron_nlp.tagger.model.label_components import part_numbers
from perceptron_nlp.tagger.tag.context import with_first_labels
from perceptron_nlp.tagger.tag.label import TemplateLabeller
from perceptron_nlp.tagger.tag.lemmatize import Lemmatizer
from perceptron_nlp.text.tagset import word_bytes

_CONTEXT = 2


@dataclass(frozen=True, slots=True)
class FoundFeature:
    """A feature with a weight for the label asked for, in the units of scores.

    text : what it saw, such as ``lower[0]=dog tag[-1]=DET``, offsets in the order of the text
        (features/readable.py)
    word, before, after : the first place in the text that has it: the word being tagged, and up to
        two words on either side
    count : how often the text has it
    """

    template: str
    text: str
    weight: float
    word: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """Numbers of a text's features: all, those with weights, and those that share a row."""

    features: int
    with_weights: int
    sharing: int


class FeatureSearch:
    """The features that a model of one column with templates makes of a text."""

    def __init__(self, model: TaggerModel, sentences: Sequence[Sentence], threads: int = 1) -> None:
        self._model = model
        compiled = compile_templates(model.templates)
        self._program = FeatureProgram(compiled)
        self._readable = ReadableTemplates(model.templates, model.right_to_left)
        self._names = compiled.columns
        self._seeds = compiled.seeds
        self._numbers = [atom[1] for atom in compiled.atoms]
        self._atom_starts = compiled.atom_starts
        self._values: dict[tuple[int, str], dict[int, list[int]]] = {}
        self._label_hashes = {label: hash64(word_bytes(label)) for label in model.tags.labels}
        self._places: dict[tuple[int, int], list[int]] = {}
        labeller = TemplateLabeller(model)
        prepared = labeller.prepared(sentences)
        self._labels = labeller.learned_labels(prepared, threads=threads)
        self._sentences = list(self._as_looked_at(prepared, threads))
        for number, sentence in enumerate(self._sentences):
            self._enter(number, sentence)
        self._rows = self._found_rows()

    def _as_looked_at(self, prepared: Sequence[Sequence[str]], threads: int) -> Iterator[Sentence]:
        """The sentences with every column that templates look at."""
        tables, first = self._model.tables, self._model.first
        given = prepared if tables is None else [tables.added_to(one) for one in prepared]
        if first is not None:
            labels = TemplateLabeller(first).learned_labels(given, threads=threads)
            given = [
                with_first_labels(one, found) for one, found in zip(given, labels, strict=True)
            ]
        if self._model.lemmas is not None:
            names = self._model.feature_columns
            known = Lemmatizer(names, self._model.tags, self._model.lemmas)
            given = [known.with_known(one) for one in given]
        for one in given:
            yield one if isinstance(one, Sentence) else Sentence(one)

    def _enter(self, number: int, sentence: Sentence) -> None:
        columns = self._columns(sentence)
        for i in range(len(sentence)):
            for template in range(len(self._model.templates)):
                for hashes in self._hashed(template, columns, self._labels[number], i):
                    key = hash_words(hashes, self._seeds[template])
                    place = self._places.setdefault((template, key), [number, i, 0])
                    place[2] += 1

    def _columns(self, sentence: Sentence) -> list[Sequence[str]]:
        return [sentence.words if name == "form" else sentence.column(name) for name in self._names]

    def _hashed(
        self, template: int, columns: Sequence[Sequence[str]], labels: Sequence[str], i: int
    ) -> Iterator[tuple[int, ...]]:
        """The hashes of the atoms of each of a template's features at word i."""
        start = self._atom_starts[template]
        atoms = self._model.templates[template].atoms
        return itertools.product(
            *(
                self._hashes(atom, self._numbers[start + k], columns, labels, i)
                for k, atom in enumerate(atoms)
            )
        )

    def _hashes(
        self,
        atom: Atom,
        value: int,
        columns: Sequence[Sequence[str]],
        labels: Sequence[str],
        i: int,
    ) -> list[int]:
        """The hashes of what an atom looks at (docs/model-format.md)."""
        n = len(labels)
        if atom.kind == "value" and atom.value is not None:
            at = i + atom.offset
            if 0 <= at < n:
                column = self._names.index(atom.value.column)
                return self._values_of(column, columns[column][at])[value]
            if atom.value.affix in ("ngrams", "pieces"):
                return []
            return [hash64(b"\xffL%d" % -at if at < 0 else b"\xffR%d" % (at - n + 1))]
        if atom.kind == "tag":
            label = self._previous(labels, i, -atom.offset)
            return [hash64(b"\xffstart") if label is None else self._label_hashes[label]]
        if atom.kind == "bias":
            return [hash64(b"\xffbias")]
        yes = i == (0 if atom.kind == "first" else n - 1)
        return [hash64(b"\xffyes" if yes else b"\xffno")]

    def _previous(self, labels: Sequence[str], i: int, steps: int) -> str | None:
        at = i + steps if self._model.right_to_left else i - steps
        return labels[at] if 0 <= at < len(labels) else None

    def _values_of(self, column: int, text: str) -> dict[int, list[int]]:
        found = self._values.get((column, text))
        if found is None:
            found = self._values[column, text] = self._program.values_of(column, word_bytes(text))
        return found

    def _found_rows(self) -> dict[tuple[int, int], int]:
        """The row of each feature that has one."""
        weights = self._model.weights
        features = list(self._places)
        keys = np.array([key for _, key in features], np.uint64)
        templates = np.array([template for template, _ in features], np.int64)
        rows: dict[tuple[int, int], int] = {}
        if weights.table_bits is not None:
            keys, templates = keys >> np.uint64(64 - weights.table_bits), np.zeros_like(templates)
        for group in np.unique(templates).tolist():
            first, last = weights.group_starts[group : group + 2].tolist()
            here = np.flatnonzero(templates == group)
            at = np.searchsorted(weights.keys[first:last], keys[here])
            there = at < last - first
            there[there] = weights.keys[first:last][at[there]] == keys[here[there]]
            for feature, row in zip(here[there].tolist(), at[there].tolist(), strict=True):
                rows[features[feature]] = first + row
        return rows

    def coverage(self) -> Coverage:
        """Count the text's features, and their rows in the table."""
        in_row = np.unique(list(self._rows.values()), return_counts=True)[1]
        return Coverage(len(self._places), len(self._rows), int(in_row[in_row > 1].sum()))

    def heaviest(self, label: str, top: int) -> tuple[FoundFeature, ...]:
        """The features with most weight for and against a label, by its absolute value."""
        model = self._model
        if label not in model.tags.labels:
            raise ArgumentError(f"label: the model has no label {quote(label)}")
        wanted = [model.tags.id_of(label)]
        if model.parts is not None:
            wanted = part_numbers(model.tags.labels, model.parts)[0][wanted[0]]
        counts = np.diff(model.weights.starts)
        row_of_cell = np.repeat(np.arange(len(counts)), counts)
        cells = np.isin(model.weights.labels, wanted)
        sums = np.bincount(row_of_cell[cells], model.weights.weights[cells], len(counts))
        ranked = sorted(
            ((int(sums[row]), feature) for feature, row in self._rows.items() if sums[row]),
            key=lambda item: (-abs(item[0]), item[1]),
        )
        return tuple(self._found(feature, weight) for weight, feature in ranked[:top])

    def _found(self, feature: tuple[int, int], weight: int) -> FoundFeature:
        number, i, count = self._places[feature]
        words = self._sentences[number].words
        return FoundFeature(
            self._readable.names[feature[0]],
            self._text(feature, number, i),
            weight / self._model.weights.scale,
            words[i],
            words[max(0, i - _CONTEXT) : i],
            words[i + 1 : i + 1 + _CONTEXT],
            count,
        )

    def _text(self, feature: tuple[int, int], number: int, i: int) -> str:
        """A feature as text, with the values that it has at one place."""
        template, key = feature
        columns, labels = self._columns(self._sentences[number]), self._labels[number]
        gram = next(
            gram
            for gram, hashes in enumerate(self._hashed(template, columns, labels, i))
            if hash_words(hashes, self._seeds[template]) == key
        )
        readings = ReadableFeatures(
            self._readable, dict(zip(self._names, columns, strict=True)), labels
        )
        return readings.feature(template, i, gram)
