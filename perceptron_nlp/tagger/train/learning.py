"""Learning the columns of a text by a plan: read, configured, trained, calibrated, joined.

What only some trainings need stands in modules of its own, which are loaded when they are used.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.tagger.model.derived import FEATURES
from perceptron_nlp.tagger.model.label_components import JOINT, UPOS, XPOS
from perceptron_nlp.tagger.model.model import TEXT, TaggerModel, joined
from perceptron_nlp.tagger.overlap import with_sample
from perceptron_nlp.tagger.sources import ALL, Source, learned_columns
from perceptron_nlp.tagger.train.auto import Told, auto_configure, training_warnings
from perceptron_nlp.tagger.train.columns import (
    feature_columns,
    is_for_some,
    learns_from_itself,
    with_neighbours_seen,
)
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.loop import Callback, Task, Trainer
from perceptron_nlp.tagger.train.options import BEST, LearningOptions
from perceptron_nlp.text.sentence import Sentence

if TYPE_CHECKING:
    from perceptron_nlp.tagger.model.feature_function import FeatureFunction
    from perceptron_nlp.tagger.model.lemmas import KnownLemmas
    from perceptron_nlp.tagger.train.checkpoint import Checkpoint
    from perceptron_nlp.tagger.train.levels import FeatureSelection
    from perceptron_nlp.tagger.train.memory import MemoryLimit
    from perceptron_nlp.tagger.train.resources import Resources

logger = logging.getLogger("perceptron_nlp")

# What scores of parts of speech count where they are summed with those of other columns: on twelve
# small treebanks more than 1 cost features as much as it gave, but with accurate it gave to both.
UPOS_WEIGHTS = {"fast": 1.0, "default": 1.0, "accurate": 4.0, BEST: 4.0}
# Columns that are not learned by themselves.
STAGED = frozenset({ALL, TEXT, "lemma"})
# Stages of a training, and the modules that are loaded if it has them.
STAGES = {
    "segmentation, lemmas or dev learned": "pipeline",
    "raw text or a lexicon": "resources",
    "two passes": "stacking",
    "calibration": "calibrate",
    "calibration by folds": "folds",
    "a bound on memory": "memory",
    "checkpoints": "checkpoint",
    "compression": "compress",
    "a size": "levels",
    "options by folds": "best",
    "settled labels": "settling",
    "threads": "sidebyside",
}


def stage(name: str) -> Any:
    """Return the module of a stage (STAGES)."""
    return importlib.import_module(f"perceptron_nlp.tagger.train.{STAGES[name]}")


@dataclass(frozen=True, slots=True)
class Plan:
    """Choices for all columns of a training.

    options, function, fields, callback, resumable, learn : as given to ``perceptron_nlp.train``
    resources : raw text and lexicon, or None
    checkpoint : where the training is saved, or None
    first_checkpoint : the number of the file of the first column, from 0
    limit : of memory, or None
    lemmas : those that are known, if the labels are edit scripts
    threads : columns and runs that are learned at a time
    before_dev : called with the model that has not learned the dev set, if a second one does
    settles : count what settles the labels of columns that agree
    minutes : that columns take with the preset best; None for as many as it has by itself
    selection : the features that may be learned, and where those that are found are noted, or None
    none_is_label : ``_`` is learned as the label of words that have none
    told : by column what held-out tokens told of the first of several trainings, or None
    """

    options: LearningOptions
    function: FeatureFunction | None = None
    fields: Sequence[str] | None = None
    callback: Callback | None = None
    resources: Resources | None = None
    checkpoint: Checkpoint | None = None
    first_checkpoint: int = 0
    resumable: bool = False
    learn: bool = True
    limit: MemoryLimit | None = None
    lemmas: KnownLemmas | None = None
    threads: int = 1
    before_dev: Callable[[TaggerModel], object] | None = None
    settles: bool = True
    minutes: float | None = None
    selection: FeatureSelection | None = None
    none_is_label: bool = False
    told: dict[str, Told] | None = None

    def checkpoints(self, n_columns: int) -> list[Checkpoint | None]:
        """Return the checkpoint of each column; FileError if a file cannot be used."""
        if self.checkpoint is None:
            return [None] * n_columns
        first = self.first_checkpoint
        return [self.checkpoint.of_column(number) for number in range(first, first + n_columns)]


def learn_columns(
    source: Source, dev_source: Source | None, names: Sequence[str], plan: Plan
) -> TaggerModel:
    """Read all columns, so that a bad one is reported at once, and then learn them in turn."""
    columns = learned_columns(names, source)
    if plan.minutes is not None:
        plan = replace(plan, minutes=plan.minutes / len(columns))
    derived = () if plan.resources is None else plan.resources.columns
    made = () if plan.function is None else (FEATURES,)
    checkpoints = plan.checkpoints(len(columns))
    given = feature_columns(plan.options, plan.fields, columns, (*derived, *made)) + made
    for one in (source, dev_source) if len(columns) > 1 else ():
        if one is not None:
            one.hold()
    if plan.limit is not None:
        stage("a bound on memory").check_bounded(
            columns,
            {
                "raw or lexicon": plan.resources,
                "two_passes": plan.options.two_passes,
                "resumable": plan.resumable,
                "checkpoint": plan.checkpoint,
            },
        )
    found = [
        (
            Examples.read(source, column, given, plan.limit),
            None if dev_source is None else Examples.read(dev_source, column, given),
        )
        for column in columns
    ]
    named = dict(zip(columns, found, strict=True))
    for place, (column, own) in enumerate(zip(columns, found, strict=True)):
        some = column == XPOS and UPOS in named and is_for_some(own[0], named[UPOS][0])
        if some or plan.none_is_label:
            found[place] = (own[0].with_none, own[1] and own[1].with_none)
    noted = [*source.warnings, *([] if dev_source is None else dev_source.warnings)]
    parts = [
        partial(_learn_column, column, examples, dev, plan, checkpoint, noted)
        for column, (examples, dev), checkpoint in zip(columns, found, checkpoints, strict=True)
    ]
    models = []
    if plan.threads == 1:
        for part in parts:
            models.append(part(plan.callback))
    else:
        models = stage("threads").side_by_side(parts, plan.threads, plan.callback)
    gold = {column: text.gold.flat() for column, (text, _) in zip(columns, found, strict=True)}
    model = joined(models).agreeing(gold, UPOS_WEIGHTS[plan.options.preset])
    if plan.settles and model.agreement is not None and dev_source is not None and not plan.limit:
        model = stage("settled labels").with_settled(model, list(source), list(dev_source))
    return model


def learn_sentences(
    sentences: Sequence[Sentence],
    *,
    dev: Sequence[Sentence] | None,
    column: str,
    fields: Sequence[str] | None = None,
    lemmas: KnownLemmas | None = None,
    threads: int = 1,
    selection: FeatureSelection | None = None,
    none_is_label: bool = False,
    **options: Any,
) -> TaggerModel:
    """Learn a column of sentences that were made for a stage of a pipeline."""
    plan = Plan(
        LearningOptions(**options),
        fields=fields,
        lemmas=lemmas,
        threads=threads,
        selection=selection,
        none_is_label=none_is_label,
    )
    return learn_columns(
        Source(sentences, "train", fields=fields),
        None if dev is None else Source(dev, "dev", fields=fields),
        [column],
        plan,
    )


def _learn_part(
    column: str, plan: Plan, part: Examples, options: LearningOptions, callback: Callback
) -> TaggerModel:
    """Learn a column from a part of its text."""
    plan = replace(plan, options=options, told=None)
    return _learn_column(column, part, None, plan, None, (), callback)


def _learn_column(
    column: str,
    read: Examples,
    dev: Examples | None,
    plan: Plan,
    checkpoint: Checkpoint | None,
    noted: Sequence[str],
    callback: Callback | None,
) -> TaggerModel:
    """Learn one column; `noted` are warnings that were logged of the files."""
    told: Told = {} if plan.told is None else plan.told.setdefault(column, {})
    n_first, _ = told.setdefault("words", (read.n_labeled, 0))
    examples, tables, notes = replace(read, n_first=int(n_first)), None, []
    chosen: list[str] = []
    if plan.options.preset == BEST:
        options, chosen = stage("options by folds").chosen_by_folds(
            read, plan.options, 60 * (plan.minutes or 0), partial(_learn_part, column, plan)
        )
        plan = replace(plan, options=options)
    if plan.resources or learns_from_itself(read, plan.options):
        examples, tables, notes = stage("raw text or a lexicon").with_derived_columns(
            examples, plan.resources, plan.options
        )
    examples, options, choices = auto_configure(
        examples, plan.options, plan.threads, positions=plan.lemmas is None, told=told
    )
    examples, dev, options, context = with_neighbours_seen(examples, dev, options)
    derived = (plan.function, context, tables, plan.lemmas)
    kept = None if plan.selection is None else plan.selection.kept.get(column)
    if kept is not None:
        choices = [*choices, f"features: learned again with the {len(kept[0]):,} that fit the size"]
    task = Task(
        examples=examples,
        column=column,
        options=options,
        dev=dev,
        choices=[*chosen, *notes, *choices],
        resumable=plan.resumable,
        limit=plan.limit,
        derived=tuple(one for one in derived if one is not None),
        kept=kept,
    )
    if options.two_passes and examples.scheme == JOINT:
        if plan.resumable:
            raise ArgumentError(
                "two_passes: features learned in two passes cannot be gone on with:"
                " the second learns from what the first gave to its own text; give"
                " two_passes=False, or leave resumable out"
            )
        task = stage("two passes").stacked(
            task, lambda first: Trainer(first, log_level=logging.DEBUG).run()
        )
    if not plan.learn:
        return Trainer(task).begun()
    trainer = Trainer(task, checkpoint=checkpoint)
    if plan.threads == 1:
        runs = trainer.runs(range(options.n_runs), callback)
    else:
        runs = stage("threads").in_blocks(trainer.runs, options.n_runs, plan.threads, callback)
    model = trainer.model(runs)
    if dev is not None:
        model = stage("calibration").calibrated_by(model, dev)
    model = model.replace(record=with_sample(model.record, read.sentences))
    warnings = training_warnings(model, read, dev)
    for warning in warnings:
        logger.warning("%s", warning)
    warnings = [*noted, *warnings]
    return model.replace(record={**model.record, "warnings": warnings}) if warnings else model
