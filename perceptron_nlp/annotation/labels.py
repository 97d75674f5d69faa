"""Columns, sets of labels, and what a person may give as a label."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

import perceptron_nlp as pn
from perceptron_nlp._checks import check_choice, did_you_mean
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, FormatError, file_error, quote
from perceptron_nlp.formats import (
    UD_TAGS,
    known_labels,
    ordered_features,
    wrong_conllu_value,
    wrong_ud_value,
)

COLUMNS = ("upos", "xpos", "feats", "lemma")
_WRITABLE = re.compile(r"[^\r\n\ud800-\udfff]*")


def column_names(column: str | Sequence[str]) -> list[str]:
    """Return the names of columns. Raises ArgumentError, ArgumentTypeError."""
    if isinstance(column, str):
        column = column.split(",")
    if not isinstance(column, Sequence):
        raise ArgumentTypeError(f"column: a str or a list is needed, not {type(column).__name__}")
    names = [name.strip().lower() if isinstance(name, str) else name for name in column]
    for name in names:
        check_choice("column", name, COLUMNS)
    if not names or len(set(names)) < len(names):
        raise ArgumentError("column: name each column once, and one at least")
    if names[0] == "lemma":
        raise ArgumentError("column: lemma cannot be the first; name a column of tags before it")
    return names


def tag_set(
    tags: str | os.PathLike[str] | Iterable[str] | None, column: str
) -> dict[str, str] | None:
    """Return labels with what they are; None for any labels."""
    if tags is None:
        tags = "ud" if column == "upos" else []
    if tags == "ud":
        return UD_TAGS
    if isinstance(tags, str | os.PathLike):
        try:
            with open(tags, encoding="utf-8-sig") as file:
                lines = [line.strip() for line in file if line.strip()]
        except UnicodeDecodeError:
            raise FormatError("this is not UTF-8; convert it", os.fspath(tags)) from None
        except OSError as error:
            raise file_error(os.fspath(tags), error, "opened") from error
        if not lines:
            raise ArgumentError(f"tags: {os.fspath(tags)} is empty; give one label a line")
        pairs = [line.partition("\t") for line in lines]
    else:
        pairs = [(tag, "", "") for tag in tags]
    found = {tag.strip(): about.strip() for tag, _, about in pairs}
    for tag in found:
        wrong = wrong_value(column, tag, None)
        if wrong is not None:
            raise ArgumentError(f"tags: {wrong}")
    return found or None


def given_labels(sentence: pn.Sentence, column: str) -> Sequence[str | None]:
    """Return the labels of a sentence in a file, None for tokens that have none."""
    return known_labels(column, sentence.column(column))


def wrong_value(column: str, value: object, tags: Collection[str] | None) -> str | None:
    """Return what is wrong with a label that a person gave; None if nothing is."""
    if not isinstance(value, str) or not value:
        return f"a label of {column} is missing"
    if tags is not None and value not in tags:
        return f"{quote(value)} is not in the tag set" + did_you_mean(value, tags)
    if not _WRITABLE.fullmatch(value):
        return f"{quote(value)} holds a line break or a lone surrogate"
    if value == "_" and column in ("upos", "xpos"):
        return "_ is no label but the lack of one"
    wrong = wrong_conllu_value(column, value)
    if wrong is None and column in ("feats", "lemma"):
        wrong = wrong_ud_value(column, ordered_features(value) if column == "feats" else value)
    return None if wrong is None else f"{quote(value)} {wrong}"


def label_names(part: pn.Tagger) -> list[str]:
    """Return the labels that scores are of, as they are written."""
    if part.column != "feats":
        return list(part.labels)
    # Features may be learned with parts of speech before them.
    return [
        label if "=" in label.partition("|")[0] else label.partition("|")[2] or "_"
        for label in part.labels
    ]


def start_model(
    model: pn.Tagger | str | os.PathLike[str] | None, column: str, tags: Mapping[str, str] | None
) -> pn.Tagger | None:
    """Return the tagger to begin with. Raises ArgumentError if it does not suit column or tags."""
    if model is None:
        return None
    tagger = model if isinstance(model, pn.Tagger) else pn.load(model)
    if column not in tagger.columns:
        raise ArgumentError(
            f"model: was trained on {', '.join(tagger.columns)}, not on {column}; name another"
            " model, or another column"
        )
    if tagger.feature_columns:
        raise ArgumentError(
            f"model: looks at {', '.join(tagger.feature_columns)}, which the text does not"
            " have; name a model of words alone"
        )
    other = [] if tags is None else {*label_names(tagger.by_column[column])} - {*tags}
    if other:
        raise ArgumentError(
            f"model: gives labels that are not in the tag set ({', '.join(sorted(other)[:5])});"
            " name another model, or another tag set"
        )
    return tagger
