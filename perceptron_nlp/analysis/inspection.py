"""The contents of a model: sizes, templates and their worth, features, file layout, collisions."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from perceptron_nlp import Sentence, Tagger, TaggerModel
from perceptron_nlp._checks import check_int
from perceptron_nlp._display import Tabular
from perceptron_nlp.analysis.featuresearch import Coverage, FeatureSearch, FoundFeature
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError
from perceptron_nlp.formats import Section, check_format, layout_of, read_file_bytes
from perceptron_nlp.tagger.model.file import MODEL_FORMAT_VERSION, PLAIN_VERSION, model_from_bytes
from perceptron_nlp.tagger.model.model import Segmentation
from perceptron_nlp.tagger.model.weights import Writer
from perceptron_nlp.tagger.sources import Labelled, Source
from perceptron_nlp.tagger.tag.threads import check_threads
from perceptron_nlp.tagger.tagger import model_path
from perceptron_nlp.text.atoms import known_words


@dataclass(frozen=True, slots=True)
class TemplateWorth:
    """A template of a model.

    template : its text, offsets in the order of the text: ``tag[+1]`` is the label of the next word
        where labels are given from right to left
    rows, weights : how many features it has, and weights of these that are not 0; None in a fixed
        table, whose rows belong to all templates
    bytes : what it takes of the file; None in a fixed table and in a packed file
    weight_sum : the sum of its weights' absolute values, in the units of scores; None in a fixed
        table
    accuracy_lost : how much of the accuracy on the dev set (a fraction of 1) goes when its
        weights are 0 and nothing is trained again; None without a dev set
    """

    template: str
    rows: int | None
    weights: int | None
    bytes: int | None
    weight_sum: float | None
    accuracy_lost: float | None = None


def sizes(model: TaggerModel, packed: bool) -> tuple[TemplateWorth, ...]:
    """The templates of one column, or one pass of it, without what they give on a dev set."""
    weights = model.weights
    names = [template.in_text_order(model.right_to_left) for template in model.templates]
    if weights.table_bits is not None:
        return tuple(TemplateWorth(name, None, None, None, None) for name in names)
    arrays: dict[str, Any] = {}
    weights.write(Writer("", arrays))
    a_row, a_weight = (
        sum(arrays[name].itemsize for name in parts)
        for parts in (("keys", "counts"), ("labels", "weights"))
    )
    ends = weights.starts[weights.group_starts]
    heavy = np.concatenate([[0], np.cumsum(np.abs(weights.weights.astype(np.int64)))])
    found = []
    for number, name in enumerate(names):
        rows = int(weights.group_starts[number + 1] - weights.group_starts[number])
        cells = int(ends[number + 1] - ends[number])
        total = int(heavy[ends[number + 1]] - heavy[ends[number]]) / weights.scale
        n_bytes = None if packed else rows * a_row + cells * a_weight
        found.append(TemplateWorth(name, rows, cells, n_bytes, total))
    return tuple(found)


def accuracy_lost(
    model: TaggerModel, dev: Sequence[Sentence], threads: int
) -> tuple[float, list[float]]:
    """The accuracy of a model of one column on a dev set, and what goes without each template.

    In a fixed table a template goes by not being looked at; what its features added to rows that
    others share stays there.
    """

    def accuracy(one: TaggerModel) -> float:
        return Tagger(one).evaluate(dev, threads=threads).accuracy

    whole = accuracy(model)
    return whole, [whole - accuracy(one) for one in _each_without_one(model)]


def _each_without_one(model: TaggerModel) -> Iterator[TaggerModel]:
    for number in range(len(model.templates)):
        yield (
            _emptied(model, number)
            if model.weights.table_bits is None or len(model.templates) == 1
            else _taken_out(model, number)
        )


def _emptied(model: TaggerModel, number: int) -> TaggerModel:
    """The model without a template's rows; of a fixed table, without any."""
    weights = model.weights
    first, last = weights.group_starts[number], weights.group_starts[number + 1]
    from_cell, to_cell = weights.starts[first], weights.starts[last]
    group_starts = weights.group_starts.copy()
    group_starts[number + 1 :] -= last - first
    starts = np.concatenate([weights.starts[:first], weights.starts[last:] - to_cell + from_cell])
    return model.replace(
        weights=weights.replace(
            keys=np.delete(weights.keys, slice(first, last)),
            group_starts=group_starts,
            starts=starts,
            labels=np.delete(weights.labels, slice(from_cell, to_cell)),
            weights=np.delete(weights.weights, slice(from_cell, to_cell)),
        )
    )


def _taken_out(model: TaggerModel, number: int) -> TaggerModel:
    """The model without a template; its rows all stand in the first group."""
    templates = model.templates[:number] + model.templates[number + 1 :]
    return model.replace(
        templates=templates,
        weights=model.weights.replace(group_starts=model.weights.group_starts[:-1]),
    )


TOP = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnInspection:
    """The contents of a model of one column.

    model : the model
    templates : what each template takes and gives
    first_templates : the same of the first of two passes, without what they give; else empty
    dev_accuracy : on the dev set, a fraction of 1; None without one
    coverage : how the features of the text lie in the table; None without a text
    label, heaviest : the label asked for, and the features of the text with most weight for or
        against it; None and empty where there was none, or no text
    """

    model: TaggerModel
    templates: tuple[TemplateWorth, ...]
    first_templates: tuple[TemplateWorth, ...]
    dev_accuracy: float | None
    coverage: Coverage | None
    label: str | None
    heaviest: tuple[FoundFeature, ...]

    @property
    def collision_rate(self) -> float:
        """The rate of collisions of features, as far as the table alone can tell.

        The share of a fixed table's rows that are in use; 0 for exact keys, of which two agree
        once in 2^64.
        """
        weights = self.model.weights
        return 0.0 if weights.table_bits is None else weights.n_rows / (1 << weights.table_bits)

    def to_dict(self) -> dict[str, Any]:
        """All of it but the weights, as JSON can say it."""
        model, weights = self.model, self.model.weights
        return {
            "column": model.column,
            "labels": list(model.tags.labels),
            "extractor": None if model.function is None else model.function.name,
            "templates": [asdict(template) for template in self.templates],
            "first_templates": [asdict(template) for template in self.first_templates],
            "dev_accuracy": self.dev_accuracy,
            "feature_columns": list(model.feature_columns),
            "rows": weights.n_rows,
            # Of the first run; the others tell the same story.
            "last_updates": None if model.state is None else model.state.runs[0].last_updates,
            "weights": weights.n_cells,
            "table": "exact" if weights.table_bits is None else "fixed",
            "table_bits": weights.table_bits,
            "collision_rate": self.collision_rate,
            "coverage": None if self.coverage is None else asdict(self.coverage),
            "label": self.label,
            "heaviest": [asdict(feature) for feature in self.heaviest],
            "scale": weights.scale,
            "scheme": model.scheme,
            "parts": model.parts,
            "right_to_left": model.right_to_left,
            "beam": model.beam,
            "vocabulary": len(model.vocabulary),
            "dictionary": dict(model.dictionary),
            "known_lemmas": None if model.lemmas is None else len(model.lemmas.lemmas),
            "record": dict(model.record),
        }


@dataclass(frozen=True, slots=True)
class Inspection(Tabular):
    """The contents of a model.

    Attributes
    ----------
    columns : what it holds of each column that it fills, in their order
    layout : what stands where in its file
    segmentation : what cuts running text for it, or None
    """

    columns: tuple[ColumnInspection, ...]
    layout: tuple[Section, ...]
    segmentation: Segmentation | None = None

    @property
    def bytes(self) -> int:
        """The size of the file."""
        return sum(section.bytes for section in self.layout)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each template of each column."""
        return [
            {"column": column.model.column, **asdict(template)}
            for column in self.columns
            for template in column.templates
        ]

    def __str__(self) -> str:
        names = ", ".join(column.model.column for column in self.columns)
        return f"a model of {names}: {self.bytes:,} bytes"

    def to_dict(self) -> dict[str, Any]:
        """All of it but the weights, as JSON can say it; of one column, without ``columns``."""
        packed = self.columns[0].model.packed
        file: dict[str, Any] = {
            "format_version": MODEL_FORMAT_VERSION if packed else PLAIN_VERSION,
            "bytes": self.bytes,
            "layout": [section._asdict() for section in self.layout],
        }
        if self.segmentation is not None:
            cut, certain, words, splits = self.segmentation
            file["segmentation"] = {
                "features": cut.weights.n_rows,
                "certain_places": len(certain),
                "certain_words": sum(len(known) for *_, known in known_words(words)),
                "splits": 0 if splits is None else len(splits.tags) - 1,
                "record": dict(cut.record),
            }
        found = [column.to_dict() for column in self.columns]
        return {**file, **found[0]} if len(found) == 1 else {**file, "columns": found}


def inspect(
    model: Tagger | str | os.PathLike[str],
    *,
    dev: Labelled | None = None,
    text: Labelled | None = None,
    label: str | None = None,
    top: int = TOP,
    format: str = "auto",
    fields: Sequence[str] | None = None,
    threads: int = 1,
) -> Inspection:
    """Look into a model.

    A model holds hashes of its features, not their names. What a feature is can be told only where
    a text has it, so the heaviest features of a label are those that `text` (or `dev`) has.

    Parameters
    ----------
    model : a tagger, or the path of its file
    dev : labeled text; what accuracy is lost on it without each template is measured
    text : text to find features in, cut as the model has learned; columns of the model that later
        ones look at are predicted where the text lacks them; None for `dev`
    label : a label, as it is learned (``Tagger.labels``), to show the heaviest features of
    top : 1 to 1,000,000; how many
    format, fields : of the texts; see ``perceptron_nlp.open_corpus``
    threads : 1 to 1,024 that tag

    Raises
    ------
    FileError, ModelError, FormatError : a file cannot be read, or is damaged
    ArgumentError : no column has the label; features are asked for without a text, or
        another argument cannot be used
    ModelError : text is given, and a function that the model needs is not: give a loaded tagger
    """
    check_int("top", top, 1, 1_000_000)
    check_threads(threads)
    check_format(format)
    data, path = _bytes_of(model)
    whole = model.model if isinstance(model, Tagger) else model_from_bytes(data, path)
    parts = whole.parts_by_column
    known = sorted({name for part in parts for name in part.tags.labels})
    if label is not None:
        if not isinstance(label, str):
            raise ArgumentTypeError(f"label: a str is needed, not {type(label).__name__}")
        if dev is None and text is None:
            raise ArgumentError(
                "label: a model holds only hashes of its features; give a text"
                " (or dev) to find them in"
            )
        if label not in known:
            raise ArgumentError(
                f"label: the model has no label {label!r}; there are"
                f" {', '.join(known[:TOP])}" + (" …" if known[TOP:] else "")
            )
    how: dict[str, Any] = {"format": format, "fields": fields, "usual_fields": parts[0].fields}
    gold = None if dev is None else list(Source(dev, "dev", **how))
    shown = gold
    if text is not None:
        tagger = model if isinstance(model, Tagger) else Tagger(whole)
        shown = _readable(tagger, Source(text, "text", **how))
    return Inspection(
        tuple(_column(part, whole.packed, gold, shown, (label, top), threads) for part in parts),
        layout_of(data, path),
        whole.segmentation,
    )


def _readable(tagger: Tagger, source: Source) -> list[Sentence]:
    """Return the sentences of a text with all columns that the tagger fills before others."""
    for corpus in source.corpora:
        if corpus.format == "text" and tagger.segmenter is not None:
            corpus.cut_by(tagger.segmenter.sentences_in)
    sentences = list(source)
    seen = {name for part in tagger.by_column.values() for name in part.model.feature_columns}
    lacking = {
        name
        for name in seen.intersection(tagger.columns)
        for sentence in sentences
        if name not in sentence.columns
    }
    if not lacking:
        return sentences
    found = tagger.tag_sents(sentences, columns=tagger.columns)
    return [
        Sentence.from_reader(
            sentence.words,
            {**{name: tuple(found[name][number]) for name in sorted(lacking)}, **sentence.columns},
            sentence.path,
            0,
            sentence.layout,
        )
        for number, sentence in enumerate(sentences)
    ]


def _bytes_of(model: Tagger | str | os.PathLike[str]) -> tuple[bytes, str]:
    if isinstance(model, Tagger):
        return model.to_bytes(), "<memory>"
    return bytes(read_file_bytes(model_path(model))), os.fspath(model)


def _column(
    model: TaggerModel,
    packed: bool,
    dev: Sequence[Sentence] | None,
    text: Sequence[Sentence] | None,
    asked: tuple[str | None, int],
    threads: int,
) -> ColumnInspection:
    found, accuracy = sizes(model, packed), None
    if dev is not None:
        accuracy, lost = accuracy_lost(model, dev, threads)
        found = tuple(
            replace(one, accuracy_lost=share) for one, share in zip(found, lost, strict=True)
        )
    search = None if text is None else FeatureSearch(model, text)
    label, top = asked
    has_label = search is not None and label in model.tags.labels
    return ColumnInspection(
        model=model,
        templates=found,
        first_templates=() if model.first is None else sizes(model.first, packed),
        dev_accuracy=accuracy,
        coverage=None if search is None else search.coverage(),
        label=label if has_label else None,
        heaviest=search.heaviest(str(label), top) if search is not None and has_label else (),
    )
