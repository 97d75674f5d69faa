"""From a person's arguments to a trained model: read everything, decide what is open, train."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, FormatError, MemoryLimitError
from perceptron_nlp.features.templates import check_templates
from perceptron_nlp.tagging.attributes import JOINT
from perceptron_nlp.tagging.checkpoint import CheckpointOptions, take_checkpoint_options
from perceptron_nlp.tagging.choices import decide
from perceptron_nlp.tagging.examples import Examples
from perceptron_nlp.tagging.extractor import Extractor, extractor_name
from perceptron_nlp.tagging.firstpass import FOLD_EPOCHS, jackknifed, second_pass_templates
from perceptron_nlp.tagging.labellers import TemplateLabeller
from perceptron_nlp.tagging.model import TaggerModel
from perceptron_nlp.tagging.options import TrainingOptions, make_options
from perceptron_nlp.tagging.sources import Labelled, Source
from perceptron_nlp.tagging.trainer import Callback, Trainer, resolve_templates
from perceptron_nlp.text.sentence import Sentence


def fit(train: Labelled, *, dev: Labelled | None, column: str | None, features: Extractor | None,
        format: str, fields: Sequence[str] | None, callback: Callback | None,
        options: dict[str, Any]) -> TaggerModel:
    """Read everything, then train; Tagger.train tells the parameters."""
    try:
        return _fit(train, dev=dev, column=column, features=features, format=format, fields=fields,
                    callback=callback, options=options)
    except MemoryLimitError:
        raise
    except MemoryError:
        raise MemoryLimitError(
            "train: there is not enough memory for these sentences; give fewer, or have fewer"
            " templates, or set table_bits") from None


def _fit(train: Labelled, *, dev: Labelled | None, column: str | None, features: Extractor | None,
         format: str, fields: Sequence[str] | None, callback: Callback | None,
         options: dict[str, Any]) -> TaggerModel:
    options = dict(options)
    kept = take_checkpoint_options(options)
    chosen = make_options(options)
    if column is not None and not isinstance(column, str):
        raise ArgumentTypeError(f"column: a str is needed, not {type(column).__name__}")
    if column == "":
        raise ArgumentError("column: it is empty; give a column's name, or None")
    if callback is not None and not callable(callback):
        raise ArgumentTypeError(f"callback: a function is needed, not {type(callback).__name__}")
    if features is not None:
        extractor_name(features)
    source = Source(train, "train", format=format, fields=fields)
    learnt = column or source.default_column
    if learnt is None:
        raise FormatError(
            "read as plain text, which has no labels to learn from; if it is labelled, say its"
            " format", source.place)
    learnt = source.column_named(learnt)
    if learnt in ("id", "form"):
        raise ArgumentError(f"column: {learnt} is given, not learnt; name the column of the labels")
    evidence = evidence_columns(chosen, features, fields, learnt)
    examples = Examples.read(source, learnt, evidence)
    held_out = None
    if dev is not None:
        held_out = Examples.read(
            Source(dev, "dev", format=format, fields=fields), learnt, evidence)
    examples, chosen, choices = decide(examples, chosen, features)
    if not chosen.two_passes or examples.scheme != JOINT:
        return Trainer(examples, held_out, learnt, chosen, features, choices).run(
            callback, kept)
    return _fit_twice(examples, held_out, learnt, chosen, choices, callback, kept)


def _fit_twice(examples: Examples, held_out: Examples | None, column: str,
               options: TrainingOptions, choices: list[str], callback: Callback | None,
               kept: CheckpointOptions | None) -> TaggerModel:
    """Two passes; the callback hears of the second."""
    def first(part: Examples, chosen: TrainingOptions) -> TaggerModel:
        return Trainer(part, None, column, chosen, None, log_level=logging.DEBUG).run(None)

    def labeller_without(part: Examples) -> Callable[[Sequence[Sentence]], list[list[str]]]:
        few = min(options.passes, FOLD_EPOCHS)
        return TemplateLabeller(first(part, replace(options, runs=1, epochs=few))).label_inside

    templates = (*resolve_templates(options, examples.columns), *second_pass_templates())
    second = replace(options, templates=templates, right_to_left=not options.backwards)
    return Trainer(jackknifed(examples, labeller_without), held_out, column, second, None, choices,
                   first=first(examples, options)).run(callback, kept)


def evidence_columns(options: TrainingOptions, features: Extractor | None,
                     fields: Sequence[str] | None, learnt: str) -> tuple[str, ...]:
    """The columns besides the words that features are made of."""
    if features is None and not isinstance(options.templates, str):
        templates = check_templates(options.templates)
        wanted = sorted(set().union(*(t.columns for t in templates)))
    else:
        wanted = [name for name in fields or () if name not in ("form", "_", learnt)]
    if learnt in wanted:
        raise ArgumentError(f"templates: they look at column {learnt}, which is to be learnt")
    return tuple(wanted)
