"""``perceptron_nlp.train``: from a person's arguments to a trained tagger."""

from __future__ import annotations

import importlib
import logging
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Unpack, cast

from perceptron_nlp._checks import check_callback, check_choice, check_flag, parse_size
from perceptron_nlp._display import percent
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, MemoryLimitError
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
from perceptron_nlp.tagger.train.loop import Callback, Engine, EpochReport, Task, Trainer
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

# The module of each engine, and its class.
_ENGINES = {"ray": ("perceptron_nlp.integrations.ray", "RayEngine")}


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
    **options: Unpack[TrainOptions],
) -> Tagger:
    """Train a tagger, here or by the workers of an engine.

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
    **options : the fields of ``perceptron_nlp.TrainingOptions`` (docs/reference/options.md): what
        is learned and how, further text to learn from (``raw``, ``lexicon``), the size of the
        model, checkpoints (a resumed training gives the same model, byte for byte, as one that was
        not interrupted), a bound on memory, and engines: ``"ray"``, or an engine such as
        ``perceptron_nlp.integrations.ray.RayEngine(workers=4, mixes=2)`` (docs/engines.md)

    Returns
    -------
    the tagger; the same data, options and seed give the same bytes

    Raises
    ------
    FormatError : a file breaks its format (file:line), or nothing in it is labeled
    FileError : a file cannot be read, or the text cannot be kept on disk
    MemoryLimitError : words, features and weights do not fit max_memory, or the machine
    MissingExtraError : the engine is not installed
    EngineError : the engine cannot be reached, or its workers die again and again
    ArgumentError, ArgumentTypeError, TemplateError : an option cannot be used

    Examples
    --------
    ``perceptron_nlp.train("train.conllu", dev="dev.conllu", epochs=5).save("en.model")``
    """
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
    )
    learn = partial(
        learn_stages,
        stages,
        fit=_learn_stage,
        seed=chosen.seed,
        accurate=chosen.preset == "accurate",
    )
    try:
        model = learn(source, dev_source, partial(_learn_columns, plan=plan))
        if chosen.learn_dev and dev_source is not None:
            again = partial(_learn_columns, plan=plan_with_dev)
            model = with_dev(model, partial(learn, learn_columns=again), source, dev_source)
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
    engine: Engine | None = None
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
        engine=engine_of(chosen.engine, chosen.workers, chosen.read_by),
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
                "engine": plan.engine is not None,
            },
        )
    # Workers may read for themselves.
    read = getattr(plan.engine, "read", Examples.read)
    found = [
        (
            read(source, column, given)
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
        task = stacked(
            task, lambda first: _trainer(first, plan.engine, log_level=logging.DEBUG).run()
        )
    model = _trainer(task, plan.engine, checkpoint).run(plan.callback)
    model = calibrated_by(model, dev)
    model = model.replace(record=with_sample(model.record, read.sentences))
    warnings = training_warnings(model, read, dev)
    for warning in warnings:
        logger.warning("%s", warning)
    warnings = [*noted, *warnings]
    return model.replace(record={**model.record, "warnings": warnings}) if warnings else model


def _trainer(
    task: Task,
    engine: Engine | None,
    checkpoint: CheckpointOptions | None = None,
    log_level: int = logging.INFO,
) -> Trainer:
    mixer = None if engine is None else engine.mixer(task)
    return Trainer(task, checkpoint=checkpoint, mixer=mixer, log_level=log_level)


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


def engine_of(
    engine: object, workers: int | None = None, read_by: str | None = None
) -> Engine | None:
    """Return the engine of a name, started; None if nothing is given.

    Raises ArgumentError, ArgumentTypeError for an unknown one; MissingExtraError if not installed.
    """
    options = {"workers": workers, "read_by": read_by}
    given = {name: value for name, value in options.items() if value is not None}
    if engine is None and given:
        raise ArgumentError(
            f"{next(iter(given))}: is an option of an engine; name one, too, such as ray"
        )
    if engine is None:
        return None
    if isinstance(engine, str):
        check_choice("engine", engine, _ENGINES)
        module, name = _ENGINES[engine]
        return cast(Engine, getattr(importlib.import_module(module), name)(**given))
    if not hasattr(engine, "mixer"):
        raise ArgumentTypeError(
            f"engine: a name or an engine is needed, not {type(engine).__name__}"
        )
    if given:
        raise ArgumentError(
            f"{next(iter(given))}: the engine that was given has its own; leave it out"
        )
    return cast(Engine, engine)
