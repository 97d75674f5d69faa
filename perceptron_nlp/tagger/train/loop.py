"""The training loop: epochs over labeled sentences, scored on a dev set, the best one kept."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.model.frozenweights import FrozenWeights
from perceptron_nlp._version import __version__
from perceptron_nlp.features.templatefile import preset
from perceptron_nlp.features.templates import Template, check_templates, most_features
from perceptron_nlp.sampling import permutation
from perceptron_nlp.tagger.label_scores import share_right
from perceptron_nlp.tagger.model.cells import sum_of
from perceptron_nlp.tagger.model.derived import Derived
from perceptron_nlp.tagger.model.label_components import SCRIPTS
from perceptron_nlp.tagger.model.model import TaggerModel, of_key
from perceptron_nlp.tagger.tag.label import make_labeler
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.learners import Counts, Learner, TemplateLearner, quantized
from perceptron_nlp.tagger.train.options import LearningOptions

if TYPE_CHECKING:
    from perceptron_nlp.tagger.model.state import RunState
    from perceptron_nlp.tagger.train.checkpoint import Checkpoint
    from perceptron_nlp.tagger.train.levels import Kept
    from perceptron_nlp.tagger.train.memory import MemoryLimit

logger = logging.getLogger("perceptron_nlp")


@dataclass(frozen=True, slots=True)
class EpochReport:
    """Figures of a finished epoch.

    Attributes
    ----------
    epoch, epochs : its number from 1, and how many there may be
    examples : labeled tokens learned from
    mistakes : of these, tokens that were given another label at the time
    updates : of these, tokens that changed weights
    dev_accuracy : accuracy on the dev set; None without one
    best_epoch : the epoch with the best dev accuracy so far; without dev set, this one
    run, runs : its run's number from 1, and how many there are
    column : the column that is learned
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
        """Accuracy on the training tokens, each labeled before it was learned from."""
        return 1 - self.mistakes / self.examples if self.examples else 0.0


Callback = Callable[[EpochReport], object]


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """The start of a training that goes on: the state of each run, and the rest as in Task."""

    runs: Sequence[RunState]
    forced: Mapping[str, str]
    vocabulary: npt.NDArray[np.uint32]


@dataclass(slots=True, eq=False, kw_only=True)
class Task:
    """Everything about one training but the way there.

    Attributes
    ----------
    column : the column that is learned
    dev : sentences to choose the best epoch by, or None
    choices : what was configured automatically, for the training record
    resumable : keep the state that the training needs to go on
    limit : of memory, where the examples are in files, or None
    start : what the training goes on from, or None
    more : further entries of the training record
    derived : the derived columns of the examples, in the order in which they are made; if known
        lemmas are among them, labels are edit scripts, and labels of dev are lemmas
    kept : of the features, all that may be learned (levels.Kept), or None
    templates : those that the options ask for
    forced : tokens that get one label without being scored
    vocabulary : uint32[n]; hashes of known tokens, ascending
    """

    examples: Examples
    column: str
    options: LearningOptions
    dev: Examples | None = None
    choices: Sequence[str] = ()
    resumable: bool = False
    limit: MemoryLimit | None = None
    start: Start | None = None
    more: Mapping[str, Any] = field(default_factory=dict)
    derived: tuple[Derived, ...] = ()
    kept: Kept | None = None
    templates: tuple[Template, ...] = field(init=False)
    forced: Mapping[str, str] = field(init=False)
    vocabulary: npt.NDArray[np.uint32] = field(init=False)

    def __post_init__(self) -> None:
        self.templates = resolve_templates(self.options, self.examples.columns)
        if self.start is not None:
            self.forced, self.vocabulary = self.start.forced, self.start.vocabulary
        else:
            dictionary = self.options.dictionary
            self.forced = {} if dictionary is None else self.examples.unambiguous(*dictionary)
            self.vocabulary = self.examples.vocabulary()

    def identity(self) -> dict[str, Any]:
        """Return what a training must agree in to learn the same, as JSON can express it."""
        function = of_key(self.derived, "extractor")
        tables = of_key(self.derived, "tables")
        return {
            "version": __version__,
            "train": self.examples.record(),
            "dev": None if self.dev is None else self.dev.record(),
            "column": self.column,
            "options": self.options.record(),
            "templates": [str(template) for template in self.templates],
            "extractor": None if function is None else function.name,
            "choices": list(self.choices),
            "tables": None if tables is None else tables.record(),
            "resumable": self.resumable,
            **self.more,
        }

    def freeze(self, weights: FrozenWeights) -> TaggerModel:
        """Return a model of these weights, without a training record."""
        return TaggerModel(
            column=self.column,
            tags=self.examples.tags,
            templates=self.templates,
            weights=quantized(weights, most_features(self.templates)),
            right_to_left=self.options.is_right_to_left,
            beam=self.options.width,
            scheme=SCRIPTS if of_key(self.derived, "lemmas") else self.examples.scheme,
            parts=self.examples.parts,
            dictionary=self.forced,
            vocabulary=self.vocabulary,
            record={},
            derived=self.derived,
        )


@dataclass(slots=True)
class Run:
    """A run under way, or one that is over.

    epochs : a record for each epoch that is done
    weights : those that did best on the dev set so far; of a run that is over, its result
    best_epoch, best_score : the epoch that they are from, or 0, and its dev accuracy
    state : what the weights are the average of, where states are kept
    """

    epochs: list[dict[str, Any]] = field(default_factory=list)
    weights: FrozenWeights | None = None
    best_epoch: int = 0
    best_score: float = -1.0
    state: RunState | None = None

    def scored(self, epoch: int, score: float | None) -> bool:
        """Take in an epoch's dev accuracy; return True if it is the best."""
        if score is None or score <= self.best_score:
            return False
        self.best_score, self.best_epoch = score, epoch
        return True


class Schedule:
    """The runs and epochs of a training: which sentences, in which order, until when."""

    def __init__(self, task: Task) -> None:
        self.options = task.options
        self.n_sentences = len(task.examples.sentences)
        self._before = [] if task.start is None else [run.epochs for run in task.start.runs]

    def number(self, run: int, epoch: int) -> int:
        """Return the number of a run's epoch, with those before this training."""
        return epoch + (self._before[run - 1] if self._before else 0)

    def seed(self, run: int) -> int:
        """Return the seed of a run, from 1."""
        return (self.options.seed + run - 1) % 2**64

    def order(self, run: int, epoch: int) -> npt.NDArray[np.int64]:
        """Return the sentences of an epoch by their numbers: all of them, shuffled."""
        return permutation(self.n_sentences, self.seed(run), self.number(run, epoch))

    def run_is_over(self, run: Run) -> bool:
        """Tell if a run is at its last epoch, or has had no better one for too long."""
        done = len(run.epochs)
        patience = self.options.patience if run.best_epoch else None
        return done >= self.options.passes or bool(patience and done - run.best_epoch >= patience)


class Trainer:
    """One training of a task.

    schedule : its runs and epochs; None for all sentences in every epoch
    make_learner : returns an empty learner for a run; None for one that suits the task
    checkpoint : where its state is saved, and if it goes on from there; None for nowhere
    log_level : how loudly epochs are logged
    """

    def __init__(
        self,
        task: Task,
        *,
        schedule: Schedule | None = None,
        make_learner: Callable[[], Learner] | None = None,
        checkpoint: Checkpoint | None = None,
        log_level: int = logging.INFO,
    ) -> None:
        self._task = task
        self._schedule = schedule or Schedule(task)
        text = (task.examples, task.templates, task.options, task.forced, task.limit, task.kept)
        self._empty_learner = make_learner or partial(TemplateLearner, *text)
        self._identity = task.identity()
        self._checkpoint = checkpoint
        self._keeps_states = task.resumable or checkpoint is not None
        self._log_level = log_level

    def run(self, callback: Callback | None = None) -> TaggerModel:
        """Train to the end: the best epoch of each run, or its last one without a dev set."""
        return self.model(self.runs(range(self._task.options.n_runs), callback))

    def runs(self, numbers: range, callback: Callback | None) -> list[Run]:
        """Return the runs of these numbers, from 0, learned one after the other."""
        schedule, learner = self._schedule, self._empty_learner()
        runs, run, state = self._so_far(learner)
        while len(runs) < len(numbers):
            number, epoch = numbers[len(runs)] + 1, len(run.epochs) + 1
            if epoch == 1 or state is not None:
                learner, state = self._begin(number, learner, state), None
            counts = learner.learn(schedule.order(number, epoch))
            report = self._end_epoch(number, run, learner, counts)
            is_over = schedule.run_is_over(run)
            if is_over or (self._checkpoint is not None and epoch % self._checkpoint.every == 0):
                ended = self._ended(number, run, learner)
                self._save([*runs, ended], learner)
                if is_over:
                    runs, run = [*runs, ended], Run()
            if callback is not None:
                callback(report)
        return runs

    def begun(self) -> TaggerModel:
        """Return the model before its first epoch, of weights of 0."""
        learner, runs = self._empty_learner(), []
        for number in range(1, self._task.options.n_runs + 1):
            learner = self._begin(number, learner, None)
            runs.append(self._ended(number, Run(), learner))
        return self._model(runs)

    def _so_far(self, learner: Learner) -> tuple[list[Run], Run, RunState | None]:
        """Return the runs that are over, the current one, and the state that this goes on from."""
        table = (learner.table.n_labels, self._task.options.table_bits)
        checkpoint = self._checkpoint
        saved = None if checkpoint is None else checkpoint.read(self._identity, *table)
        if saved is None:
            return [], Run(), None
        epochs, found = saved
        runs, run = list[Run](), Run()
        for number, (state, weights) in enumerate(found[:-1], 1):
            run = Run([entry for entry in epochs if entry["run"] == number])
            for entry in run.epochs:
                run.scored(entry["epoch"], entry["dev_accuracy"])
            if run.best_epoch:
                run.weights, run.state = weights, state
            if number < len(found) - 1 or self._schedule.run_is_over(run):
                best_epoch = run.best_epoch or len(run.epochs)
                runs.append(replace(run, weights=weights, best_epoch=best_epoch, state=state))
                run = Run()
        return runs, run, found[-1][0] if run.epochs else None

    def _begin(self, number: int, before: Learner, state: RunState | None) -> Learner:
        """Return the learner of a run, from 1, as it is before its first or its next epoch.

        It may be the one before, whose features are then found already.
        """
        learner = before if number == 1 or before.keeps_features else self._empty_learner()
        learner.table.clear()
        if state is None and self._task.start is not None:
            state = self._task.start.runs[number - 1]
        if state is not None:
            state.put_into(learner.table)
        return learner

    def _save(self, runs: Sequence[Run], learner: Learner) -> None:
        """Save the model of these runs, the last of which is the current one, as the checkpoint."""
        if self._checkpoint is None:
            return
        model, done = self._model(runs), len(runs[-1].epochs)
        if runs[-1].best_epoch < done and model.state is not None:
            last = self._state(len(runs), done, learner)
            model = model.replace(state=replace(model.state, last=last))
        self._checkpoint.save(model, self._identity)

    def _ended(self, number: int, run: Run, learner: Learner) -> Run:
        """Return the current run as it is if it ends now."""
        if run.weights is not None:
            return replace(run)
        done = len(run.epochs)
        state = self._state(number, done, learner)
        return replace(run, weights=learner.average(), best_epoch=done, state=state)

    def _end_epoch(self, number: int, run: Run, learner: Learner, counts: Counts) -> EpochReport:
        """Score the epoch that is done, keep it if it is the best, and return its report."""
        task, epoch = self._task, len(run.epochs) + 1
        score, is_best = None, False
        if task.dev is not None:
            weights = learner.average()
            score = dev_accuracy(task.freeze(weights), task.dev)
            is_best = run.scored(epoch, score)
            run.weights = weights if is_best else run.weights
        n_runs = task.options.n_runs
        logger.log(
            self._log_level,
            "epoch %d%s: %d mistakes in %d tokens, dev accuracy %s",
            epoch,
            f" of run {number}" if n_runs > 1 else "",
            counts[1],
            counts[0],
            score,
        )
        best = run.best_epoch or epoch
        report = EpochReport(
            epoch, task.options.passes, *counts, score, best, number, n_runs, task.column
        )
        recorded = ("run", "epoch", "mistakes", "updates", "dev_accuracy")
        run.epochs.append({name: getattr(report, name) for name in recorded})
        if is_best:
            run.state = self._state(number, epoch, learner)
        return report

    def _state(self, number: int, done: int, learner: Learner) -> RunState | None:
        """Return what a run needs to go on after so many epochs; None if it is not kept."""
        if not self._keeps_states:
            return None
        # Here and below, since few trainings keep them.
        from perceptron_nlp.tagger.model.state import RunState

        return RunState.of(learner.table, self._schedule.number(number, done))

    def model(self, runs: Sequence[Run]) -> TaggerModel:
        """Return the model that all runs give, with the state of those that can be gone on with."""
        return self._model(runs).replace(**{} if self._task.resumable else {"state": None})

    def _model(self, runs: Sequence[Run]) -> TaggerModel:
        found = [run.weights for run in runs if run.weights is not None]
        weights = found[0] if len(found) == 1 else sum_of(found)
        apart = ("column", "templates", "extractor", "resumable")
        record = {name: one for name, one in self._identity.items() if name not in apart}
        record["epochs"] = [entry for run in runs for entry in run.epochs]
        record["best_epoch"] = runs[0].best_epoch
        states = tuple(run.state for run in runs if run.state is not None)
        model = self._task.freeze(weights).replace(record=record)
        if not states:
            return model
        from perceptron_nlp.tagger.model.state import TrainingState

        options = self._task.options
        if len(runs) < options.n_runs:
            options = replace(options, runs=len(runs))
        return model.replace(state=TrainingState(options.record(), states))


def dev_accuracy(model: TaggerModel, dev: Examples) -> float:
    """Return the accuracy of a model, as it will be saved, on labeled sentences."""
    given = make_labeler(model).label(model.inputs(dev.sentences))
    return share_right(dev.gold, given, dev.n_labeled)


def resolve_templates(
    options: LearningOptions, feature_columns: Sequence[str]
) -> tuple[Template, ...]:
    """Return the templates that the options ask for; a named list looks at all feature columns."""
    if isinstance(options.templates, str):
        return preset(options.templates, feature_columns)
    return check_templates(options.templates)
