"""From a person's arguments to a trained model: read everything, decide what is open, train."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, MemoryLimitError
from perceptron_nlp.features.templates import check_templates
from perceptron_nlp.tagger.confidence.calibrating import calibrated_by
from perceptron_nlp.tagger.model.label_components import JOINT, UPOS
from perceptron_nlp.tagger.model.model import TaggerModel, is_in, joined, vocabulary_of
from perceptron_nlp.tagger.model.word_tables import WordTables
from perceptron_nlp.tagger.tag.context import (
    WINDOW,
    derived_names,
    given_names,
    look_nearby,
    with_neighbours,
)
from perceptron_nlp.tagger.tag.feature_function import Extractor, extractor_name
from perceptron_nlp.tagger.tag.label import TemplateLabeller
from perceptron_nlp.tagger.train.auto import decide, wants_upos_first
from perceptron_nlp.tagger.train.checkpoint import CheckpointOptions, take_checkpoint_options
from perceptron_nlp.tagger.train.columnnames import learnt_columns, named_columns
from perceptron_nlp.tagger.train.columns import (
    MADE,
    Sources,
    made_columns,
    take_sources,
    upos_alone,
    with_evidence,
)
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.loop import Callback, Engine, Trainer, resolve_templates
from perceptron_nlp.tagger.train.on_disk import (
    MemoryLimit,
    check_streamable,
    read_stored,
    take_memory_limit,
)
from perceptron_nlp.tagger.train.options import TrainingOptions, make_options
from perceptron_nlp.tagger.train.sources import Labelled, Source
from perceptron_nlp.tagger.train.stacking import FOLD_EPOCHS, jackknifed, second_pass_templates
from perceptron_nlp.tagger.train.warnings import doubts
from perceptron_nlp.text.sentence import Sentence

logger = logging.getLogger("perceptron_nlp")


def fit(
    train: Labelled,
    *,
    dev: Labelled | None,
    column: str | Sequence[str] | None,
    features: Extractor | None,
    format: str,
    fields: Sequence[str] | None,
    callback: Callback | None,
    options: dict[str, Any],
) -> TaggerModel:
    """Read everything, then train; Tagger.train tells the parameters."""
    try:
        return _fit(
            train,
            dev=dev,
            column=column,
            features=features,
            format=format,
            fields=fields,
            callback=callback,
            options=options,
        )
    except MemoryLimitError:
        raise
    except MemoryError:
        # What was read and learnt goes with this error, and then there is room for another.
        pass
    raise MemoryLimitError(
        "train: there is not enough memory for these sentences; give fewer, or have fewer"
        " templates, or set table_bits"
    )


def _fit(
    train: Labelled,
    *,
    dev: Labelled | None,
    column: str | Sequence[str] | None,
    features: Extractor | None,
    format: str,
    fields: Sequence[str] | None,
    callback: Callback | None,
    options: dict[str, Any],
) -> TaggerModel:
    options = dict(options)
    names = named_columns(column)
    kept = take_checkpoint_options(options, max(1, len(names)))
    sources = take_sources(options)
    resumable = take_resumable(options)
    engine = _take_engine(options)
    limit = take_memory_limit(options)
    chosen = make_options(options)
    if callback is not None and not callable(callback):
        raise ArgumentTypeError(f"callback: a function is needed, not {type(callback).__name__}")
    if features is not None:
        extractor_name(features)
    source = Source(train, "train", format=format, fields=fields)
    columns = learnt_columns(names, source)
    if features is not None and made_columns(sources):
        raise ArgumentError(
            "features: a function makes its own features; leave raw and lexicon"
            " out, or learn with templates"
        )
    evidence = evidence_columns(chosen, features, fields, columns, made_columns(sources))
    dev_source = None if dev is None else Source(dev, "dev", format=format, fields=fields)
    for one in (source, dev_source) if len(columns) > 1 else ():
        if one is not None:
            one.hold()
    if limit is not None:
        check_streamable(
            columns,
            {
                "features": features is not None,
                "raw or lexicon": bool(made_columns(sources)),
                "two_passes": bool(chosen.two_passes),
                "resumable": resumable,
                "checkpoint": kept[0] is not None,
                "engine": engine is not None,
            },
        )
    # Workers may read for themselves.
    read_examples = getattr(engine, "read", Examples.read)
    # All columns are read before the first is learnt, so that a bad one is known at once.
    read = [
        (
            learnt,
            read_examples(source, learnt, evidence)
            if limit is None
            else read_stored(source, learnt, evidence, limit),
            None if dev_source is None else Examples.read(dev_source, learnt, evidence),
        )
        for learnt in columns
    ]
    return joined(
        [
            _fit_column(
                learnt,
                examples,
                held_out,
                chosen,
                features,
                callback,
                _Way(own, resumable, engine, limit),
                sources,
            )
            for (learnt, examples, held_out), own in zip(read, kept, strict=True)
        ]
    )


def take_resumable(options: dict[str, Any]) -> bool:
    """Take ``resumable`` out of a person's options."""
    resumable = options.pop("resumable", False)
    if not isinstance(resumable, bool):
        raise ArgumentTypeError(f"resumable: a bool is needed, not {type(resumable).__name__}")
    return resumable


def _take_engine(options: dict[str, Any]) -> Engine | None:
    engine: Engine | None = options.pop("engine", None)
    if engine is not None and not hasattr(engine, "trainer"):
        raise ArgumentTypeError(
            f"engine: an engine is needed, not {type(engine).__name__};"
            " perceptron_nlp.train knows some by their names"
        )
    return engine


@dataclass(frozen=True, slots=True)
class _Way:
    """What of a training is kept besides the model, on the way and at its end, who trains, and in
    what room."""

    checkpoint: CheckpointOptions | None
    resumable: bool
    engine: Engine | None
    limit: MemoryLimit | None

    def trainer(self, *what: Any, **how: Any) -> Trainer:
        """What trains, given what Trainer takes."""
        return Trainer(*what, **how) if self.engine is None else self.engine.trainer(*what, **how)


def _fit_column(
    column: str,
    read: Examples,
    dev: Examples | None,
    options: TrainingOptions,
    features: Extractor | None,
    callback: Callback | None,
    way: _Way,
    sources: Sources,
) -> TaggerModel:
    examples, tables, made = (
        (read, None, []) if features is not None else with_evidence(read, sources, options)
    )
    examples, chosen, choices = decide(examples, options, features)
    choices = [*made, *choices]
    examples, dev, chosen = _with_neighbours(examples, dev, chosen, features)
    if not chosen.two_passes or examples.scheme != JOINT:
        trainer = way.trainer(examples, dev, column, chosen, features, choices, tables=tables)
        trainer.resumable = way.resumable
        trainer.limit = way.limit
        model = trainer.run(callback, way.checkpoint)
    elif way.resumable:
        raise ArgumentError(
            "two_passes: features learnt in two passes cannot be gone on with:"
            " the second learns from what the first gave to its own text; give"
            " two_passes=False, or leave resumable out"
        )
    else:
        model = _fit_twice(examples, dev, column, chosen, choices, callback, way, tables)
    model = calibrated_by(model, features, dev)
    found = doubts(model, read, dev)
    for doubt in found:
        logger.warning("%s", doubt)
    return replace(model, record={**model.record, "doubts": found}) if found else model


def _with_neighbours(
    examples: Examples,
    held_out: Examples | None,
    options: TrainingOptions,
    features: Extractor | None,
) -> tuple[Examples, Examples | None, TrainingOptions]:
    """The sentences with what they show of each other, where templates look at that."""
    templates = () if features is not None else resolve_templates(options, examples.columns)
    if not look_nearby(templates):
        return examples, held_out, replace(options, window=None)
    window = WINDOW if options.window is None else options.window
    knows = partial(is_in, vocabulary_of(examples.vocabulary()))

    def added(data: Examples) -> Examples:
        evidence = [name for name in data.columns if name not in MADE]
        return replace(data, sentences=with_neighbours(data.sentences, window, evidence, knows))

    return (
        added(examples),
        None if held_out is None else added(held_out),
        replace(options, window=window, templates=templates),
    )


def _fit_twice(
    examples: Examples,
    held_out: Examples | None,
    column: str,
    options: TrainingOptions,
    choices: list[str],
    callback: Callback | None,
    way: _Way,
    tables: WordTables | None,
) -> TaggerModel:
    """Two passes; the callback hears of the second."""
    upos_first = wants_upos_first(examples)
    taught, chosen = examples, options
    if upos_first:
        taught, chosen = upos_alone(examples), replace(options, margin=None)
    templates = resolve_templates(options, examples.columns)

    def first(part: Examples, how: TrainingOptions) -> TaggerModel:
        how = replace(how, templates=templates)
        return way.trainer(
            part, None, UPOS if upos_first else column, how, None, log_level=logging.DEBUG
        ).run(None)

    def labeller_without(part: Examples) -> Callable[[Sequence[Sentence]], list[list[str]]]:
        few = min(options.passes, FOLD_EPOCHS)
        return TemplateLabeller(first(part, replace(chosen, runs=1, epochs=few))).learned_labels

    second = replace(
        options,
        templates=(*templates, *second_pass_templates(upos_first)),
        right_to_left=not options.backwards,
    )
    return way.trainer(
        jackknifed(examples, taught, labeller_without),
        held_out,
        column,
        second,
        None,
        choices,
        first=first(taught, chosen),
        tables=tables,
    ).run(callback, way.checkpoint)


def evidence_columns(
    options: TrainingOptions,
    features: Extractor | None,
    fields: Sequence[str] | None,
    learnt: Sequence[str],
    made: Sequence[str] = (),
) -> tuple[str, ...]:
    """The columns besides the words that features are made of, but for those that are made."""
    if features is None and not isinstance(options.templates, str):
        templates = check_templates(options.templates)
        looked_at = given_names(name for t in templates for name in t.columns)
        wanted = [name for name in looked_at if name not in made]
    else:
        wanted = [name for name in fields or () if name not in ("form", "_", *learnt)]
    clashing = sorted({*wanted} & {*derived_names(wanted)})
    if clashing:
        raise ArgumentError(
            f"fields: {clashing[0]} is the name of a column that the tagger makes"
            " itself; give the column of the input another name"
        )
    for name in learnt:
        if name in wanted:
            raise ArgumentError(f"templates: they look at column {name}, which is to be learnt")
    return tuple(wanted)
