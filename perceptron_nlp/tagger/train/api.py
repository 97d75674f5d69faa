"""``perceptron_nlp.train``: from a person's arguments to a trained tagger."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Unpack

from perceptron_nlp._checks import check_callback, check_flag, parse_size
from perceptron_nlp._display import percent
from perceptron_nlp.errors import ArgumentError, MemoryLimitError
from perceptron_nlp.tagger.model.compress import LEAST_BYTES
from perceptron_nlp.tagger.model.feature_function import (
    FEATURES,
    Extractor,
    FeatureFunction,
    templates_with_function,
)
from perceptron_nlp.tagger.model.label_components import JOINT
from perceptron_nlp.tagger.model.lemmas import KnownLemmas
from perceptron_nlp.tagger.model.model import TaggerModel, joined
from perceptron_nlp.tagger.tagger import Tagger
from perceptron_nlp.tagger.train.auto import auto_configure, training_warnings
from perceptron_nlp.tagger.train.calibrate import calibrated_by
from perceptron_nlp.tagger.train.checkpoint import CheckpointOptions, checkpoint_options
from perceptron_nlp.tagger.train.columns import (
    Resources,
    feature_columns,
    with_derived_columns,
    with_neighbours_seen,
)
from perceptron_nlp.tagger.train.data import Examples, with_sample
from perceptron_nlp.tagger.train.loop import Callback, EpochReport, Task, Trainer
from perceptron_nlp.tagger.train.on_disk import MemoryLimit, check_streamable, read_stored
from perceptron_nlp.tagger.train.options import (
    AUTO,
    LearningOptions,
    TrainingOptions,
    TrainOptions,
    options_from,
)
from perceptron_nlp.tagger.train.pipeline import learn_stages, prepare_for_dev, stages_of, with_dev
from perceptron_nlp.tagger.train.sources import (
    Labelled,
    LabelLists,
    Source,
    learned_columns,
    named_columns,
    with_labels,
)
from perceptron_nlp.tagger.train.stacking import stacked
from perceptron_nlp.text.sentence import Sentence

logger = logging.getLogger("perceptron_nlp")


def train(
    train: Labelled,
    labels: LabelLists | None = None,
    *,
    dev: Labelled | None = None,
    column: str | Sequence[str] | None = None,
    features: Extractor | None = None,
    format: str = "auto",
    fields: Sequence[str] | None = None,
    callback: Callback | None = None,
    verbose: bool = False,
    learn: bool = True,
    **options: Unpack[TrainOptions],
) -> Tagger:
    """Train a tagger.

    Parameters
    ----------
    train : a path, several paths, a Corpus, or labeled sentences: Sentence objects, pairs
        (words, labels), or lists of (word, label) pairs; or, if `labels` is given, lists of words
    labels : None, or for each list of words as many labels; a label that is None says that the
        word has none
    dev : the same; the epoch that does best on it is kept, and training may stop early
    column : the column to learn; None for ``upos`` in CoNLL-U, the last one of column files,
        the one of word/TAG text. Several names, as a list or separated by commas, make one
        tagger that fills all of these columns, each learned by itself; ``lemma`` sees those of
        tags. ``text`` among them adds segmentation of running text, learned from the spaces of
        CoNLL-U; ``all`` stands for that and every column of tags and lemmas that is filled
    features : a function (tokens, i) -> features: strings, or a mapping whose values are strings
        and bools. They are what the template ``column:features.word.pieces`` makes; unless
        `templates` are given, it stands beside ``tag[-1]`` and ``tag[-1] tag[-2]``
    format, fields : see ``perceptron_nlp.open_corpus``; of the columns that `fields` names, all
        but the words and the learned one are feature columns
    callback : called with an EpochReport after each epoch
    verbose : print a line on standard error after each epoch
    learn : False to choose all that is chosen by the text, and to learn nothing yet: `resume` of
        the tagger on this text makes it what it would have become
    **options : the fields of ``perceptron_nlp.TrainingOptions`` (docs/reference/options.md): what
        is learned and how, further text to learn from (``raw``, ``lexicon``), the size of the
        model, checkpoints (a resumed training gives the same model, byte for byte, as one that was
        not interrupted), and a bound on memory

    Returns
    -------
    the tagger; the same data, options and seed give the same bytes

    Raises
    ------
    FormatError : a file breaks its format (file:line), or nothing in it is labeled
    FileError : a file cannot be read, or the text cannot be kept on disk
    MemoryLimitError : words, features and weights do not fit max_memory, or the machine
    ArgumentError, ArgumentTypeError, TemplateError : an option cannot be used

    Examples
    --------
    ``perceptron_nlp.train("train.conllu", dev="dev.conllu", epochs=5).save("en.model")``
    """
    check_flag("learn", learn)
    if not learn:
        options = {**options, "resumable": True}
    chosen = options_from(options, TrainingOptions)
    check_callback(callback)
    check_flag("verbose", verbose)
    function = None if features is None else FeatureFunction.of(features)
    if function is not None:
        chosen = replace(chosen, templates=templates_with_function(chosen.templates, AUTO))
    size = _size(chosen)
    if size is not None and dev is not None:
        # It is gone over twice, and may be a stream.
        dev = list(Source(dev, "dev", format=format, fields=fields))
    how: dict[str, Any] = {"format": format, "fields": fields, "function": function}
    source = Source(with_labels(train, labels, "train"), "train", **how)
    dev_source = None if dev is None else Source(dev, "dev", **how)
    stages = stages_of(named_columns(column), source)
    if chosen.resumable and stages.several:
        raise ArgumentError(
            "resumable: segmentation and lemmas are learned from all of a text at once and cannot"
            " be resumed; leave resumable out, or name columns of tags alone"
        )
    prepare_for_dev(chosen, source, dev_source)
    plan, plan_with_dev = _plans(
        chosen,
        max(1, len(stages.columns)),
        function=function,
        fields=fields,
        callback=_printing(callback) if verbose else callback,
        learn=learn,
    )
    fit_all = partial(
        learn_stages,
        stages,
        fit=_learn_stage,
        seed=chosen.seed,
        accurate=chosen.preset == "accurate",
    )
    try:
        model = fit_all(source, dev_source, partial(_learn_columns, plan=plan))
        if chosen.learn_dev and dev_source is not None:
            again = partial(_learn_columns, plan=plan_with_dev)
            model = with_dev(model, partial(fit_all, learn_columns=again), source, dev_source)
    except MemoryLimitError:
        raise
    except MemoryError:
        # What was read and learned goes with this error, and then there is room for another.
        model = None
    if model is None:
        raise MemoryLimitError(
            "train: there is not enough memory for these sentences; give fewer, or have fewer"
            " templates, or set table_bits"
        )
    tagger = Tagger(model.with_fields(source.fields))
    return tagger if size is None else tagger.compress(size, dev=dev, format=format, fields=fields)


def _printing(callback: Callback | None) -> Callback:
    """Return a callback that prints a line for each epoch, and then calls another, if any."""

    def report(epoch: EpochReport) -> None:
        run = f"run {epoch.run}/{epoch.runs}, " if epoch.runs > 1 else ""
        dev = "" if epoch.dev_accuracy is None else f", dev {percent(epoch.dev_accuracy)}"
        print(
            f"{epoch.column}: {run}epoch {epoch.epoch}/{epoch.epochs}:"
            f" train {percent(epoch.train_accuracy)}{dev}",
            file=sys.stderr,
            flush=True,
        )
        if callback is not None:
            callback(epoch)

    return report


@dataclass(frozen=True, slots=True)
class _Plan:
    """Choices for all columns of a training; `checkpoints` has one for each."""

    options: LearningOptions
    function: FeatureFunction | None = None
    fields: Sequence[str] | None = None
    callback: Callback | None = None
    resources: Resources = field(default_factory=Resources)
    checkpoints: Sequence[CheckpointOptions | None] = (None,)
    resumable: bool = False
    learn: bool = True
    limit: MemoryLimit | None = None
    lemmas: KnownLemmas | None = None


def _plans(chosen: TrainingOptions, n_columns: int, **given: Any) -> tuple[_Plan, _Plan]:
    """Return the plan of a training, and that of the one which learns the dev set, too."""
    checkpoints = checkpoint_options(
        chosen.checkpoint, chosen.every, chosen.resume, n_columns * (1 + chosen.learn_dev)
    )
    plan = _Plan(
        chosen.learning(),
        resources=Resources.read(chosen.raw, chosen.lexicon),
        checkpoints=checkpoints[:n_columns],
        resumable=chosen.resumable,
        limit=None if chosen.max_memory is None else MemoryLimit(chosen.max_memory),
        **given,
    )
    return plan, replace(plan, checkpoints=checkpoints[n_columns:])


def _learn_columns(
    source: Source, dev_source: Source | None, names: Sequence[str], plan: _Plan
) -> TaggerModel:
    """Read all columns, so that a bad one is reported at once, and then learn them in turn."""
    columns = learned_columns(names, source)
    derived = plan.resources.columns
    made = () if plan.function is None else (FEATURES,)
    given = feature_columns(plan.options, plan.fields, columns, (*derived, *made)) + made
    for one in (source, dev_source) if len(columns) > 1 else ():
        if one is not None:
            one.hold()
    if plan.limit is not None:
        check_streamable(
            columns,
            {
                "raw or lexicon": bool(derived),
                "two_passes": bool(plan.options.two_passes),
                "resumable": plan.resumable,
                "checkpoint": plan.checkpoints[0] is not None,
            },
        )
    found = [
        (
            Examples.read(source, column, given)
            if plan.limit is None
            else read_stored(source, column, given, plan.limit),
            None if dev_source is None else Examples.read(dev_source, column, given),
        )
        for column in columns
    ]
    noted = [*source.warnings, *([] if dev_source is None else dev_source.warnings)]
    models = []
    for column, (examples, dev), checkpoint in zip(columns, found, plan.checkpoints, strict=True):
        models.append(_learn_column(column, examples, dev, plan, checkpoint, noted))
    gold = {column: read.gold.flat() for column, (read, _) in zip(columns, found, strict=True)}
    return joined(models).agreeing(gold)


def _learn_stage(
    sentences: Sequence[Sentence],
    *,
    dev: Sequence[Sentence] | None,
    column: str,
    fields: Sequence[str] | None = None,
    lemmas: KnownLemmas | None = None,
    **options: Any,
) -> TaggerModel:
    """Learn a column of sentences that were made for a stage of a pipeline."""
    plan = _Plan(LearningOptions(**options), fields=fields, lemmas=lemmas)
    return _learn_columns(
        Source(sentences, "train", fields=fields),
        None if dev is None else Source(dev, "dev", fields=fields),
        [column],
        plan,
    )


def _learn_column(
    column: str,
    read: Examples,
    dev: Examples | None,
    plan: _Plan,
    checkpoint: CheckpointOptions | None,
    noted: Sequence[str],
) -> TaggerModel:
    """Learn one column; `noted` are warnings that were logged of the files."""
    examples, tables, notes = with_derived_columns(read, plan.resources, plan.options)
    examples, options, choices = auto_configure(examples, plan.options)
    examples, dev, options = with_neighbours_seen(examples, dev, options)
    task = Task(
        examples=examples,
        column=column,
        options=options,
        dev=dev,
        function=plan.function,
        choices=[*notes, *choices],
        tables=tables,
        resumable=plan.resumable,
        limit=plan.limit,
        lemmas=plan.lemmas,
    )
    if options.two_passes and examples.scheme == JOINT:
        if plan.resumable:
            raise ArgumentError(
                "two_passes: features learned in two passes cannot be gone on with:"
                " the second learns from what the first gave to its own text; give"
                " two_passes=False, or leave resumable out"
            )
        task = stacked(task, lambda first: Trainer(first, log_level=logging.DEBUG).run())
    if not plan.learn:
        return Trainer(task).begun()
    model = Trainer(task, checkpoint=checkpoint).run(plan.callback)
    model = calibrated_by(model, dev)
    model = model.replace(record=with_sample(model.record, read.sentences))
    warnings = training_warnings(model, read, dev)
    for warning in warnings:
        logger.warning("%s", warning)
    warnings = [*noted, *warnings]
    return model.replace(record={**model.record, "warnings": warnings}) if warnings else model


def _size(chosen: TrainingOptions) -> int | None:
    """Return the bytes that the model is to be compressed into; None for as many as it takes."""
    if chosen.size is None:
        return None
    size = parse_size(chosen.size)
    if size < LEAST_BYTES:
        raise ArgumentError(
            f"size: {size:,} bytes are too few for any model; give a size such as 400kB"
        )
    if chosen.resumable:
        raise ArgumentError(
            "resumable: a tagger compressed into a size cannot be trained"
            " further; leave size out, and compress what is resumed"
        )
    if chosen.max_memory is not None:
        raise ArgumentError(
            "max_memory: compressing into a size needs more memory than"
            " training; leave size out, and compress what is trained"
        )
    return size
