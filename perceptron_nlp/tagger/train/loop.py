"""The training loop: epochs over labelled sentences, scored on a dev set, the best one kept."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.model.frozenweights import FrozenWeights
from perceptron_nlp._version import __version__
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.features.templates import Template, check_templates, preset
from perceptron_nlp.sampling import permutation
from perceptron_nlp.tagger.evaluation import share_right
from perceptron_nlp.tagger.model.ensemble import sum_of
from perceptron_nlp.tagger.model.model import TaggerModel, vocabulary_of
from perceptron_nlp.tagger.model.state import RunState, TrainingState
from perceptron_nlp.tagger.model.weights import QuantisedWeights
from perceptron_nlp.tagger.model.word_tables import WordTables
from perceptron_nlp.tagger.tag.feature_function import Extractor, extractor_name
from perceptron_nlp.tagger.tag.label import make_labeller
from perceptron_nlp.tagger.train.checkpoint import Checkpoint, CheckpointOptions
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.interrupts import Interrupts
from perceptron_nlp.tagger.train.learners import FunctionLearner, Learner, TemplateLearner
from perceptron_nlp.tagger.train.on_disk import MemoryLimit
from perceptron_nlp.tagger.train.options import TrainingOptions
from perceptron_nlp.tagger.train.progress import Progress

logger = logging.getLogger("perceptron_nlp")

# Sentences learnt between two looks at the clock and the keyboard.
PIECE = 256


@dataclass(frozen=True, slots=True)
class EpochReport:
    """What is known after an epoch.

    Attributes
    ----------
    epoch, epochs : its number from 1, and how many there may be
    examples : labelled words learnt from
    mistakes : of these, words labelled wrong at the time
    updates : of these, words that changed weights
    dev_accuracy : share of the dev set's words labelled right; None without a dev set
    best_epoch : the epoch with the best dev accuracy so far; without dev set, this one
    run, runs : its run's number from 1, and how many there are
    column : the column that is learnt
    """

    epoch: int
    epochs: int
    examples: int
    mistakes: int
    updates: int
    dev_accuracy: float | None
    best_epoch: int
    run: int = 1
    runs: int = 1
    column: str = ""

    @property
    def train_accuracy(self) -> float:
        """Share of the words labelled right while learning from them."""
        return 1 - self.mistakes / self.examples if self.examples else 0.0


Callback = Callable[[EpochReport], object]


class Trainer:
    """One training run: what is learnt from, and how.

    Parameters
    ----------
    examples : the training sentences
    dev : sentences to choose the best epoch by, or None
    column : the column that is learnt
    options : how to learn
    features : a feature function in place of templates, or None
    choices : what was found out by the program, for the training record
    log_level : how loudly epochs are logged
    first : the first pass that the model builds on, or None
    tables : what columns of the examples were looked up in, or None

    Attributes
    ----------
    resumable : whether the model keeps what its training needs to go on; False unless set
    limit : of memory, where the examples are kept on disc; None unless set
    """

    def __init__(
        self,
        examples: Examples,
        dev: Examples | None,
        column: str,
        options: TrainingOptions,
        features: Extractor | None,
        choices: Sequence[str] = (),
        log_level: int = logging.INFO,
        first: TaggerModel | None = None,
        tables: WordTables | None = None,
    ) -> None:
        self._examples = examples
        self._dev = dev
        self._column = column
        self._options = options
        self._features = features
        self._choices = list(choices)
        self._log_level = log_level
        self._first = first
        self._tables = tables
        self.resumable = False
        self.limit: MemoryLimit | None = None
        self._templates = (
            () if features is not None else resolve_templates(options, examples.columns)
        )
        self._vocabulary = vocabulary_of(examples.vocabulary())
        self._forced = (
            {} if options.dictionary is None else examples.unambiguous(*options.dictionary)
        )

    def _make_learner(self, run: int) -> Learner:
        """The learner of a run, from 1, as it is before its first epoch."""
        self._check_search()
        if self._features is not None:
            return FunctionLearner(self._examples, self._features, self._options, self._forced)
        return TemplateLearner(
            self._examples, self._templates, self._options, self._forced, self.limit
        )

    def _check_search(self) -> None:
        if self._features is not None and self._options.width > 1:
            raise ArgumentError(
                "beam: a feature function labels greedily; use beam=1, or templates"
            )

    def run(self, callback: Callback | None, kept: CheckpointOptions | None = None) -> TaggerModel:
        """Train to the end: the best epoch of each run, or its last one without a dev set.

        Parameters
        ----------
        callback : called after each epoch
        kept : where to save the state on the way, and whether to go on from it
        """
        checkpoint = None if kept is None else Checkpoint(kept, self._identity())
        progress, learner = self._begin(checkpoint)
        interrupts = Interrupts()
        # From the first epoch to the last: a Ctrl-C between two of them must say how to go on, too.
        with interrupts.waiting() if checkpoint else contextlib.nullcontext():
            while len(progress.finished) < self._options.n_runs:
                if learner is None:
                    learner = self._make_learner(progress.run)
                self._learn_epoch(progress, learner, checkpoint, interrupts)
                self._end_epoch(progress, learner, callback)
                if self._is_over(progress):
                    progress.end_run(
                        progress.best or learner.average(),
                        progress.best_state
                        or self._state_of(learner, progress.run, progress.epoch - 1),
                    )
                    learner = None
                if checkpoint is not None:
                    checkpoint.epoch_done(progress, None if learner is None else learner.table)
        if checkpoint is not None:
            checkpoint.stop_if(interrupts)
        runs = progress.finished
        weights = runs[0].weights if len(runs) == 1 else sum_of([run.weights for run in runs])
        record = {
            **self._identity(),
            "epochs": [entry for run in runs for entry in run.epochs],
            "best_epoch": runs[0].best_epoch,
        }
        for name in ("column", "templates", "extractor", "resumable"):
            del record[name]
        states = [run.state for run in runs if run.state is not None]
        return replace(
            self._freeze(weights),
            record=record,
            state=TrainingState(self._options, tuple(states)) if self.resumable else None,
        )

    def _state_of(self, learner: Learner, run: int, epochs: int) -> RunState | None:
        """What a run, from 1, needs to go on after so many epochs; None if it is not kept."""
        if not self.resumable:
            return None
        return RunState.of(learner.table, self._epochs_before(run) + epochs)

    def _epochs_before(self, run: int) -> int:
        """How many epochs a run, from 1, had made before this training."""
        return 0

    def _identity(self) -> dict[str, Any]:
        """What this training is of: one that agrees in it learns the same."""
        return {
            "version": __version__,
            "train": self._examples.record(),
            "dev": None if self._dev is None else self._dev.record(),
            "column": self._column,
            "options": self._options.record(),
            "templates": [str(template) for template in self._templates],
            "extractor": None if self._features is None else extractor_name(self._features),
            "choices": self._choices,
            "tables": None if self._tables is None else self._tables.record(),
            "resumable": self.resumable,
        }

    def _begin(self, checkpoint: Checkpoint | None) -> tuple[Progress, Learner | None]:
        if checkpoint is None:
            return Progress(), None
        learner = self._make_learner(1)
        progress, table, done = checkpoint.read(learner.table.n_labels, self._options.table_bits)
        if table is not None:
            learner.table.from_arrays(table, done)
        return progress, learner

    def _learn_epoch(
        self,
        progress: Progress,
        learner: Learner,
        checkpoint: Checkpoint | None,
        interrupts: Interrupts,
    ) -> None:
        """The rest of the epoch at hand, piece by piece."""
        seed = (self._options.seed + progress.run - 1) % 2**64
        order = self._order(seed, self._epochs_before(progress.run) + progress.epoch)
        while progress.position < len(order):
            piece = order[progress.position : progress.position + PIECE]
            progress.add(len(piece), learner.learn(piece))
            if checkpoint is not None:
                checkpoint.piece_done(progress, learner.table, interrupts)

    def _order(self, seed: int, epoch: int) -> npt.NDArray[np.int64]:
        """The sentences of an epoch, by their numbers."""
        return permutation(len(self._examples.sentences), seed, epoch)

    def _end_epoch(self, progress: Progress, learner: Learner, callback: Callback | None) -> None:
        """Score the epoch that is done, keep it if it is the best, and report it."""
        epoch, (examples, mistakes, updates), score = progress.epoch, progress.counts, None
        if self._dev is not None:
            weights = learner.average()
            score = self.score(self._freeze(weights), self._dev)
            if score > progress.best_score:
                progress.best, progress.best_score, progress.best_epoch = weights, score, epoch
                progress.best_state = self._state_of(learner, progress.run, epoch)
        report = EpochReport(
            epoch,
            self._options.passes,
            examples,
            mistakes,
            updates,
            score,
            progress.best_epoch or epoch,
            progress.run,
            self._options.n_runs,
            self._column,
        )
        logger.log(
            self._log_level,
            "epoch %d%s: %d mistakes in %d words, dev accuracy %s",
            epoch,
            f" of run {progress.run}" if self._options.n_runs > 1 else "",
            mistakes,
            examples,
            score,
        )
        progress.end_epoch(
            {
                "run": progress.run,
                "epoch": epoch,
                "mistakes": mistakes,
                "updates": updates,
                "dev_accuracy": score,
            }
        )
        if callback is not None:
            callback(report)

    def _is_over(self, progress: Progress) -> bool:
        """Is the run at its last epoch, or without a better one for too long?"""
        done, options = progress.epoch - 1, self._options
        patience = options.patience if progress.best is not None else None
        return done >= options.passes or bool(patience and done - progress.best_epoch >= patience)

    def _freeze(self, weights: FrozenWeights) -> TaggerModel:
        return TaggerModel(
            column=self._column,
            tags=self._examples.tags,
            templates=self._templates,
            extractor=None if self._features is None else extractor_name(self._features),
            weights=QuantisedWeights.of(weights, max(1, len(self._templates))),
            right_to_left=self._options.backwards,
            beam=self._options.width,
            scheme=self._examples.scheme,
            parts=self._examples.parts,
            dictionary=self._forced,
            vocabulary=self._vocabulary,
            record={},
            first=self._first,
            tables=self._tables,
            window=self._options.window,
        )

    def score(self, model: TaggerModel, dev: Examples) -> float:
        """The model's accuracy on a dev set: of the frozen form, the one that people get."""
        given = make_labeller(model, self._features).label(model.inputs(dev.sentences))
        return share_right(dev.gold, given, dev.n_labelled)


class Engine(Protocol):
    """What brings trainers of its own, such as workers on other machines (integrations)."""

    def trainer(self, *what: Any, **how: Any) -> Trainer:
        """A trainer, given what Trainer takes."""


def resolve_templates(options: TrainingOptions, evidence: Sequence[str]) -> tuple[Template, ...]:
    """The templates that the options ask for; a named list looks at all evidence columns."""
    if isinstance(options.templates, str):
        return preset(options.templates, evidence)
    return check_templates(options.templates)
