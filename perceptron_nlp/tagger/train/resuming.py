"""Going on with a training that is over, on other sentences.

Nothing is estimated anew but what the new sentences bring: the weights as they stand, their totals
and time stamps, AdaGrad's sums and the number of words done are those of the state, and learning
goes on as if there had been no end. So the average after N old and M new words is the mean over
all N + M.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from perceptron_nlp._checks import check_callback, check_choice, check_int
from perceptron_nlp.errors import ArgumentError, FormatError, quote
from perceptron_nlp.tagger.model.derived import FEATURES
from perceptron_nlp.tagger.model.label_components import (
    JOINT,
    POSITIONS,
    holds_attributes,
    part_names,
)
from perceptron_nlp.tagger.model.model import TaggerModel, joined, of_key
from perceptron_nlp.tagger.model.state import RunState, TrainingState
from perceptron_nlp.tagger.overlap import trained_on, with_sample
from perceptron_nlp.tagger.sources import Labeled, Source, gold_for
from perceptron_nlp.tagger.train.calibrate import calibrated_by
from perceptron_nlp.tagger.train.checkpoint import RECORD as CHECKPOINT
from perceptron_nlp.tagger.train.columns import as_iobes, partly_hidden, with_context, with_upos
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.loop import Callback, Start, Task, Trainer
from perceptron_nlp.tagger.train.options import LearningOptions
from perceptron_nlp.text.tagset import SCHEMES, UNLABELED, TagSet, is_span_column

logger = logging.getLogger("perceptron_nlp")

AVERAGES = ("all", "new")


def continued(
    model: TaggerModel,
    state: TrainingState,
    examples: Examples,
    dev: Examples | None,
    options: LearningOptions,
) -> Task:
    """Return the task of a training that goes on from a model's states."""
    names = {
        name: number for number, name in enumerate(part_names(examples.tags.labels, examples.parts))
    }
    numbers = [names[name] for name in part_names(model.tags.labels, model.parts)]
    return Task(
        examples=examples,
        dev=dev,
        column=model.column,
        options=options,
        derived=model.derived,
        resumable=True,
        start=Start(
            [run.renumbered(numbers) for run in state.runs],
            dictionary_after(model, examples, options),
            np.union1d(model.vocabulary, examples.vocabulary()),
        ),
        more={"before": {k: v for k, v in model.record.items() if k != CHECKPOINT}},
    )


def go_on(
    model: TaggerModel,
    data: Labeled,
    *,
    dev: Labeled | None,
    epochs: int | None,
    average: str,
    format: str,
    fields: Sequence[str] | None,
    callback: Callback | None,
) -> TaggerModel:
    """The model after learning from `data`, too; Tagger.resume tells the parameters."""
    if epochs is not None:
        check_int("epochs", epochs, 1, 10_000)
    check_choice("average", average, AVERAGES)
    check_callback(callback)
    if model.segmentation is not None or any(part.lemmas for part in model.parts_by_column):
        raise ArgumentError(
            "resume: segmentation and lemmas are learned from all of a text at once and cannot be"
            " resumed; train on all of it again, or resume a tagger of tags alone"
        )
    if any(part.first is not None for part in model.parts_by_column):
        raise ArgumentError(
            "resume: features learned in two passes cannot be gone on with: the second learned from"
            " what the first gave to its own text; train with two_passes=False"
        )
    for part in model.parts_by_column:
        state_of(part)
    functions = [part.function for part in model.parts_by_column if part.function]
    usual: dict[str, Any] = {
        "format": format,
        "fields": fields,
        "usual_fields": model.fields,
        "function": functions[0] if functions else None,
    }
    source = Source(data, "data", **usual)
    dev_source = None if dev is None else Source(dev, "dev", **usual)
    for one in (source, dev_source) if model.more else ():
        if one is not None:
            one.hold()
    # All columns are read before the first is learned, so that a bad one is known at once.
    read = [
        (part, _examples(source, part), None if dev_source is None else _held_out(dev_source, part))
        for part in model.parts_by_column
    ]
    found = joined(
        [
            _column(part, examples, held_out, epochs, average, callback)
            for part, examples, held_out in read
        ]
    )
    if model.agreement is not None:
        sentences = list(source)
        gold = {
            part.column: [*chain.from_iterable(gold_for(part, sentences, part.column))]
            for part in model.parts_by_column
        }
        found = found.replace(agreement=model.agreement).agreeing(gold)
    return found.with_fields(source.fields or model.fields)


def state_of(model: TaggerModel) -> TrainingState:
    """The state of a model of one column; ArgumentError where it keeps none."""
    if model.state is None:
        raise ArgumentError(
            f"resume: the tagger of {model.column} keeps no state of its training, only averages,"
            " from which an average cannot go on; train it with resumable=True"
        )
    return model.state


def _column(
    model: TaggerModel,
    examples: Examples,
    dev: Examples | None,
    epochs: int | None,
    average: str,
    callback: Callback | None,
) -> TaggerModel:
    state = state_of(model)
    options = replace(LearningOptions.of_record(state.options), templates=model.templates)
    if epochs is not None:
        options = replace(options, epochs=epochs)
    if average == "new":
        state = TrainingState(state.options, tuple(map(RunState.average_begun_anew, state.runs)))
    new = sorted({*examples.tags} - {*model.tags})
    if new:
        logger.info("%d labels are new: %s", len(new), ", ".join(map(quote, new[:5])))
    task = continued(model, state, examples, dev, options)
    found = Trainer(task).run(callback)
    found = found.replace(record=with_sample(found.record, examples.sentences, model.record))
    warning = None if dev is None else trained_on(found.record, dev.sentences, "dev")
    if warning is not None:
        logger.warning("%s", warning)
        found = found.replace(record={**found.record, "warnings": [warning]})
    return calibrated_by(found, dev)


def _examples(source: Source, model: TaggerModel) -> Examples:
    """The new sentences as the old ones were learned, with all labels, old and new."""
    examples = _read(source, model)
    if model.scheme in SCHEMES:
        if examples.n_labeled < examples.n_tokens or not is_span_column({*examples.tags, "B-X"}):
            raise FormatError(
                f"column {quote(model.column)} must hold spans, such as B-PER and O, at every word,"
                " since the tagger learned spans",
                source.place,
            )
        examples, _ = as_iobes(examples)
        examples = replace(examples, scheme=model.scheme)
    elif model.parts in POSITIONS:
        examples = replace(examples, parts=model.parts)
    elif model.parts is not None:
        if not holds_attributes({*examples.tags, "A=a|B=b"}):
            raise FormatError(
                f"column {quote(model.column)} must hold features, such as Case=Gen|Number=Plur or"
                " _, since the tagger learned features",
                source.place,
            )
        if model.scheme == JOINT:
            examples = with_upos(examples)
            if examples.scheme != JOINT:
                raise FormatError(
                    "column 'upos' must be filled at every word, since the tagger"
                    " learned parts of speech with the features",
                    source.place,
                )
        examples = replace(examples, parts=model.parts)
    examples = replace(examples, tags=TagSet({*model.tags, *examples.tags}))
    if model.tables is not None:
        hidden = partly_hidden(examples, model.tables)
        examples = examples.with_tables(model.tables, hidden)
    context = of_key(model.derived, "window")
    if context is not None:
        known = np.union1d(model.vocabulary, examples.vocabulary())
        examples = with_context(examples, context, known)
    return examples


def _read(source: Source, model: TaggerModel) -> Examples:
    examples = Examples.read(source, model.column, _columns_of(model))
    has_gaps = examples.n_labeled < examples.n_tokens
    return examples.with_none if has_gaps and UNLABELED in model.tags else examples


def _columns_of(model: TaggerModel) -> tuple[str, ...]:
    """Return the columns of sentences whose features a model's function has made."""
    return model.feature_columns + (() if model.function is None else (FEATURES,))


def _held_out(source: Source, model: TaggerModel) -> Examples:
    """The sentences to choose an epoch by, as the model takes them."""
    examples = _read(source, model)
    context = of_key(model.derived, "window")
    return examples if context is None else with_context(examples, context, model.vocabulary)


def dictionary_after(
    model: TaggerModel, examples: Examples, options: LearningOptions
) -> dict[str, str]:
    """The words that get one label without being scored, from now on.

    One that had it before keeps it unless, where the new sentences label it at all, less than the
    share that the option ``dictionary`` asks for is that label. Words that were never seen before
    come in as they would in training. Others have weights, and go on being scored.
    """
    if options.dictionary is None:
        return dict(model.dictionary)
    count, share = options.dictionary
    agreeing = examples.unambiguous(1, share)
    spoken_of = {
        word
        for words, labels in zip(examples.sentences.values("form"), examples.gold, strict=True)
        for word, label in zip(words, labels, strict=True)
        if label is not None
    }
    kept = {
        word: label
        for word, label in model.dictionary.items()
        if word not in spoken_of or agreeing.get(word) == label
    }
    new = {
        word: label
        for word, label in examples.unambiguous(count, share).items()
        if not model.knows(word)
    }
    return dict(sorted({**new, **kept}.items()))
