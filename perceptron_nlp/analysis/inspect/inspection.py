"""What is in a model: sizes, templates and their worth, features, file layout, collisions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from perceptron_nlp._checks import check_int
from perceptron_nlp.analysis.inspect.featuresearch import Coverage, FeatureSearch, FoundFeature
from perceptron_nlp.analysis.inspect.templateworth import TemplateWorth, accuracy_lost, sizes
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError
from perceptron_nlp.formats import Section, layout_of, read_file_bytes
from perceptron_nlp.tagger.model.file import FORMAT_VERSION, PLAIN_VERSION, model_from_bytes
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.tagger import Tagger, model_path
from perceptron_nlp.tagger.train.sources import Labelled, Source
from perceptron_nlp.text.sentence import Sentence

TOP = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnInspection:
    """What is in a model of one column.

    Attributes
    ----------
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
        """How often a feature meets the weights of another, as far as the table alone can tell.

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
            "extractor": model.extractor,
            "templates": [template.to_dict() for template in self.templates],
            "first_templates": [template.to_dict() for template in self.first_templates],
            "dev_accuracy": self.dev_accuracy,
            "evidence": list(model.feature_columns),
            "rows": weights.n_rows,
            "weights": weights.n_cells,
            "table": "exact" if weights.table_bits is None else "fixed",
            "table_bits": weights.table_bits,
            "collision_rate": self.collision_rate,
            "coverage": None if self.coverage is None else self.coverage.to_dict(),
            "label": self.label,
            "heaviest": [feature.to_dict() for feature in self.heaviest],
            "scale": weights.scale,
            "scheme": model.scheme,
            "parts": model.parts,
            "right_to_left": model.right_to_left,
            "beam": model.beam,
            "vocabulary": len(model.vocabulary),
            "dictionary": dict(model.dictionary),
            "record": dict(model.record),
        }


@dataclass(frozen=True, slots=True)
class Inspection:
    """What is in a model.

    Attributes
    ----------
    columns : what it holds of each column that it fills, in their order
    layout : what stands where in its file
    """

    columns: tuple[ColumnInspection, ...]
    layout: tuple[Section, ...]

    @property
    def bytes(self) -> int:
        """How large the file is."""
        return sum(section.bytes for section in self.layout)

    def to_dict(self) -> dict[str, Any]:
        """All of it but the weights, as JSON can say it; of one column, without ``columns``."""
        packed = self.columns[0].model.packed
        file = {
            "format_version": FORMAT_VERSION if packed else PLAIN_VERSION,
            "bytes": self.bytes,
            "layout": [section._asdict() for section in self.layout],
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
    dev : labelled text; what accuracy is lost on it without each template is measured
    text : text to find features in; None for `dev`
    label : a label, as it is learnt (``Tagger.labels``), to show the heaviest features of
    top : 1 to 1,000,000; how many
    format, fields : of the texts; see ``perceptron_nlp.open_corpus``
    threads : 1 to 1,024 that tag

    Raises
    ------
    FileError, ModelError, FormatError : a file cannot be read, or is damaged
    ArgumentError : no column has the label; features are asked for without a text, or of a
        model whose features a function makes
    """
    check_int("top", top, 1, 1_000_000)
    data, path = _bytes_of(model)
    whole = model_from_bytes(data, path)
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
    if not (label is text is dev is None) and any(part.extractor is not None for part in parts):
        raise ArgumentError(
            "model: a function makes its features, which is not at hand here; only"
            " models with templates are measured on text"
        )
    how: dict[str, Any] = {"format": format, "fields": fields, "usual_fields": parts[0].fields}
    gold = None if dev is None else list(Source(dev, "dev", **how))
    shown = gold if text is None else list(Source(text, "text", **how))
    return Inspection(
        tuple(_column(part, whole.packed, gold, shown, (label, top), threads) for part in parts),
        layout_of(data, path),
    )


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
        found = tuple(one.without(share) for one, share in zip(found, lost, strict=True))
    search = None if text is None else FeatureSearch(model, text, threads)
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
