"""The contents of a model: sizes, templates and their worth, features, file layout, collisions."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any, NamedTuple

from perceptron_nlp import Sentence, Tagger, TaggerModel
from perceptron_nlp._checks import check_int, check_threads
from perceptron_nlp.analysis.templates import (
    Coverage,
    FeatureSearch,
    FoundFeature,
    TemplateWorth,
    worth,
)
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, ModelError
from perceptron_nlp.formats import check_format, open_tensors, read_file_bytes
from perceptron_nlp.formats.tensorfile import HEADER_START, item_size, long_name, parse_header
from perceptron_nlp.pages.renderers import Reported
from perceptron_nlp.pages.reports import Column, Figure, Report, Table
from perceptron_nlp.tagger.model.file import PLAIN_VERSION, model_from_bytes
from perceptron_nlp.tagger.model.model import NO_TAGS, TEXT, Segmentation
from perceptron_nlp.tagger.sources import Labeled, Source
from perceptron_nlp.tagger.tagger import model_path
from perceptron_nlp.text.atoms import known_words
from perceptron_nlp.text.scripts import parse_script
from perceptron_nlp.text.tagset import CASED, CASELESS, PATTERN_KINDS, holds

TOP = 20


class Section(NamedTuple):
    """A part of a file, where it begins and how long it is: ``"header"`` or an array.

    ``length`` is how many items the array has, ``type`` NumPy's name of theirs.
    """

    name: str
    begin: int
    bytes: int
    type: str | None
    length: int | None


def layout_of(data: bytes, path: str) -> tuple[Section, ...]:
    """Return the parts of a file from its beginning to its end."""
    open_tensors(data, path)
    start = HEADER_START + int.from_bytes(data[:HEADER_START], "little")
    entries, _, _ = parse_header(data[HEADER_START:start], path)
    arrays = [
        Section(
            name,
            start + entry.begin,
            entry.end - entry.begin,
            long_name(entry.dtype),
            (entry.end - entry.begin) // item_size(entry.dtype),
        )
        for name, entry in entries.items()
    ]
    return (
        Section("header", 0, start, None, None),
        *sorted(arrays, key=lambda section: (section.begin, section.bytes, section.name)),
    )


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

    def report(self) -> Report:
        """Return what the column was trained with, and its labels, features and training."""
        return Report(
            f"column {self.model.column}",
            [*self._facts(), *self._data()],
            [
                Table(
                    "first_templates",
                    "templates of the first level",
                    _TEMPLATES,
                    [astuple(one) for one in self.first_templates],
                ),
                Table(
                    "heaviest",
                    f"features that speak for (+) or against (-) {self.label}",
                    _HEAVIEST,
                    [
                        (
                            *(one.weight, one.count, one.text),
                            " ".join([*one.before, f"[{one.word}]", *one.after]),
                        )
                        for one in self.heaviest
                    ],
                ),
                *_training_tables(self.model.record),
            ],
        )

    def _facts(self) -> Iterator[Figure]:
        model, weights, record = self.model, self.model.weights, self.model.record
        yield Figure("column", model.column, "data")
        if model.lemmas is None:
            yield Figure("labels", list(model.tags.labels), "list")
        else:
            yield Figure("labels", list(model.tags.labels), "data")
            scripts = [f"({parse_script(label).brief()})" for label in model.tags.labels]
            yield Figure("edit_scripts", scripts, "list")
            note = "with their parts of speech"
            yield Figure("known_lemmas", len(model.lemmas.lemmas), label="known lemmas", note=note)
        yield Figure("rows", weights.n_rows, label="features")
        yield Figure("weights", weights.n_cells)
        if weights.table_bits is None:
            yield Figure("table", "exact", "text", note="keys, no collisions")
        else:
            yield Figure("table", "fixed", "text", note=f"2^{weights.table_bits} rows")
        yield Figure("table_bits", weights.table_bits, "data")
        kind = "data" if weights.table_bits is None else "percent"
        yield Figure("collision_rate", self.collision_rate, kind, "collisions")
        if self.coverage is not None:
            names = {
                "features": "of the text",
                "with_weights": "in the table",
                "sharing": "sharing rows",
            }
            for key, count in asdict(self.coverage).items():
                yield Figure(f"text_{key}", count, label=f"features {names[key]}")
        direction = "right to left" if model.right_to_left else "left to right"
        yield Figure("direction", direction, "text")
        yield Figure("beam", model.beam, note="greedy" if model.beam == 1 else "")
        columns = ["form", *model.feature_columns]
        yield Figure("columns_needed", ", ".join(columns), "text")
        yield Figure("vocabulary", len(model.vocabulary))
        note = "with one label each"
        yield Figure("n_dictionary", len(model.dictionary), label="dictionary", note=note)
        if self.dev_accuracy is not None:
            yield Figure("dev_accuracy", self.dev_accuracy, "percent")
        counts = None if model.state is None else model.state.runs[0].last_updates
        # Of the first run; the others tell the same story.
        yield Figure("last_updates", counts, "list" if counts else "data", "last update, by epoch")
        yield from _record_figures(record)

    def _data(self) -> Iterator[Figure]:
        model = self.model
        plain = ("scheme", "parts", "right_to_left", "record", "dictionary")
        for name in plain:
            value = getattr(model, name)
            yield Figure(name, dict(value) if isinstance(value, Mapping) else value, "data")
        yield Figure("extractor", None if model.function is None else model.function.name, "data")
        yield Figure("scale", model.weights.scale, "data")
        yield Figure("label", self.label, "data")
        yield Figure("feature_columns", list(model.feature_columns), "data")


_WORTH = (
    Column("rows", "count", "features"),
    Column("weights", "count"),
    Column("bytes", "count"),
    Column("weight_sum", "count", "sum |w|"),
    Column("accuracy_lost", "change", "lost on dev"),
)
_TEMPLATES = (Column("template"), *_WORTH)
_HEAVIEST = (
    Column("weight", "weight"),
    Column("count", "count", "times"),
    Column("feature"),
    Column("place", label="first location"),
)
_EPOCHS = (
    Column("epoch", "count"),
    Column("mistakes", "count"),
    Column("dev_accuracy", "percent"),
    Column("best", label=""),
)


def _record_figures(record: Mapping[str, Any]) -> Iterator[Figure]:
    """Yield what the record of a training says: its texts and options."""
    if "version" in record:
        yield Figure("version", record["version"], "text", "trained by version")
    for name in ("train", "dev"):
        if counts := record.get(name):
            note = f"labeled tokens: {counts['labeled']:,}, SHA-256 {counts['sha256'][:16]}…"
            yield Figure(f"{name}_sentences", counts["sentences"], "count", None, note)
    for name, value in (record.get("options") or {}).items():
        if value is not None:
            yield Figure(f"option_{name}", str(value), "text", name)


def _training_tables(record: Mapping[str, Any]) -> Iterator[Table]:
    """Yield the epochs of a training, or the models that were merged."""
    rows = [
        (one["epoch"], one["mistakes"], one["dev_accuracy"], "kept" * (one["epoch"] == best))
        for best in [record.get("best_epoch")]
        for one in record.get("epochs") or []
    ]
    yield Table("epochs", "epochs of training", _EPOCHS, rows)
    members = [
        (one["weight"], (one["record"].get("train") or {}).get("labeled"), one["sha256"])
        for one in record.get("merged") or []
    ]
    columns = (
        Column("weight", "number"),
        Column("tokens", "count"),
        Column("sha256", label="SHA-256"),
    )
    yield Table("merged", f"merged of {len(members)} models", columns, members)


@dataclass(frozen=True, slots=True)
class Inspection(Reported):
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

    def report(self) -> Report:
        """Return sizes, templates and the layout of the file, and a section for each column."""
        names = ", ".join(column.model.column for column in self.columns)
        packed = self.columns[0].model.packed
        templates = [
            (one.model.column, *astuple(template))
            for one in self.columns
            for template in one.templates
        ]
        figures = [
            Figure("bytes", self.bytes),
            Figure("format_version", PLAIN_VERSION + packed, label="format"),
            *self._segmentation(),
        ]
        tables = [
            Table("templates", "", (Column("column"), *_TEMPLATES), templates),
            Table("layout", "", _LAYOUT, self.layout),
        ]
        sections = [one.report() for one in self.columns]
        is_fixed = any(one.model.weights.table_bits is not None for one in self.columns)
        notes = ["rows of a fixed table belong to all templates"] if is_fixed else []
        if len(sections) == 1:
            figures += sections[0].figures
            tables[1:1] = sections.pop().tables
        return Report(f"a model of {names}: {self.bytes:,} bytes", figures, tables, notes, sections)

    def _segmentation(self) -> Iterator[Figure]:
        """Yield what the model has learned of cutting running text."""
        if self.segmentation is None:
            return
        cut, certain, words, splits, patterns, small, lead, single, entries, *_ = self.segmentation
        held = [kind for kind in PATTERN_KINDS if holds(kind, patterns)]
        n_known = sum(len(one) for *_, one in known_words(words))
        for key, count, note in (
            ("features", cut.weights.n_rows, "of places between atoms of text"),
            ("certain_places", len(certain), "kinds that training saw one way only"),
            ("certain_words", n_known, "words and endings that settle what is beside"),
            ("small_words", sum(map(len, small.values())), "that tell of capitalized ones"),
            ("splits", 0 if splits is None else len(splits.tags) - 1, "ways to part a token"),
            ("stems", len(self.segmentation.stems), "that words are cut off from"),
        ):
            label = f"segmentation: {key.replace('_', ' ')}"
            yield Figure(f"segmentation_{key}", count, label=label, note=note)
        atoms = {"": "runs of letters", CASED: "cased letters", CASELESS: "caseless letters"}
        note = f"each; {len(entries):,} words of training match about them" if entries else ""
        found = atoms.get(single, "letters")
        yield Figure("segmentation_atoms", found, "text", "segmentation: atoms", note)
        yield Figure("segmentation_patterns", held, "list", "segmentation: patterns")
        for key, value in (("lead", lead), ("record", dict(cut.record))):
            yield Figure(f"segmentation_{key}", value, "data")


_LAYOUT = (
    Column("name", label="part of the file"),
    Column("begin", "count", "begins at"),
    Column("bytes", "count"),
    Column("type"),
    Column("length", "count"),
)


def inspect(
    model: Tagger | str | os.PathLike[str],
    *,
    dev: Labeled | None = None,
    text: Labeled | None = None,
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
    ModelError : text is given, and a function that the model needs is not: give a loaded tagger;
        or a text is given for a model that only cuts text
    """
    check_int("top", top, 1, 1_000_000)
    check_threads(threads)
    check_format(format)
    if isinstance(model, Tagger):
        data, path, whole = model.to_bytes(), "<memory>", model.model
    else:
        data, path = bytes(read_file_bytes(model_path(model))), os.fspath(model)
        whole = model_from_bytes(data, path)
    if whole.column == TEXT and any(one is not None for one in (dev, text, label)):
        raise ModelError(NO_TAGS)
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
        if corpus.format == "text":
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


def _column(
    model: TaggerModel,
    packed: int,
    dev: Sequence[Sentence] | None,
    text: Sequence[Sentence] | None,
    asked: tuple[str | None, int],
    threads: int,
) -> ColumnInspection:
    found, accuracy = worth(model, packed, dev, threads)
    search = None if text is None else FeatureSearch(model, text)
    label, top = asked
    has_label = search is not None and label in model.tags.labels
    return ColumnInspection(
        model=model,
        templates=found,
        first_templates=() if model.first is None else worth(model.first, packed)[0],
        dev_accuracy=accuracy,
        coverage=None if search is None else search.coverage(),
        label=label if has_label else None,
        heaviest=search.heaviest(str(label), top) if search is not None and has_label else (),
    )
