"""The training loop: epochs over labelled sentences, scored on a dev set, the best one kept."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from perceptron_nlp._core.weights import FrozenWeights
from perceptron_nlp._version import __version__
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.features.templates import Template, check_templates, preset
from perceptron_nlp.sampling import permutation
from perceptron_nlp.tagging.evaluation import Evaluation
from perceptron_nlp.tagging.examples import Examples
from perceptron_nlp.tagging.extractor import Extractor, extractor_name
from perceptron_nlp.tagging.labellers import make_labeller
from perceptron_nlp.tagging.learners import FunctionLearner, Learner, TemplateLearner
from perceptron_nlp.tagging.model import TaggerModel, vocabulary_of
from perceptron_nlp.tagging.options import TrainingOptions
from perceptron_nlp.tagging.quantised import QuantisedWeights
from perceptron_nlp.tagging.sums import sum_of

logger = logging.getLogger("perceptron_nlp")


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

    @property
    def train_accuracy(self) -> float:
        """Share of the words labelled right while learning from them."""
        return 1 - self.mistakes / self.examples if self.examples else 0.0


Callback = Callable[[EpochReport], object]


@dataclass(frozen=True, slots=True)
class _Run:
    weights: FrozenWeights
    best_epoch: int
    epochs: list[dict[str, Any]]


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
    """

    def __init__(self, examples: Examples, dev: Examples | None, column: str,
                 options: TrainingOptions, features: Extractor | None,
                 choices: Sequence[str] = (), log_level: int = logging.INFO) -> None:
        self._examples = examples
        self._dev = dev
        self._column = column
        self._options = options
        self._features = features
        self._choices = list(choices)
        self._log_level = log_level
        self._templates = (
            () if features is not None else resolve_templates(options, examples.columns))
        self._vocabulary = vocabulary_of(examples.vocabulary())
        self._forced = (
            {} if options.dictionary is None else examples.unambiguous(*options.dictionary))

    def _make_learner(self) -> Learner:
        if self._features is not None:
            if self._options.width > 1:
                raise ArgumentError(
                    "beam: a feature function labels greedily; use beam=1, or templates")
            return FunctionLearner(self._examples, self._features, self._options, self._forced)
        return TemplateLearner(self._examples, self._templates, self._options, self._forced)

    def run(self, callback: Callback | None) -> TaggerModel:
        """Train to the end: the best epoch of each run, or its last one without a dev set."""
        runs = [self._run(number, callback) for number in range(1, self._options.runs + 1)]
        weights = runs[0].weights if len(runs) == 1 else sum_of([run.weights for run in runs])
        record = {
            "version": __version__, "options": self._options.record(),
            "choices": self._choices, "train": self._examples.record(),
            "dev": None if self._dev is None else self._dev.record(),
            "epochs": [entry for run in runs for entry in run.epochs],
            "best_epoch": runs[0].best_epoch,
        }
        return replace(self._freeze(weights), record=record)

    def _run(self, number: int, callback: Callback | None) -> _Run:
        options, learner = self._options, self._make_learner()
        seed = (options.seed + number - 1) % 2**64
        best: FrozenWeights | None = None
        best_score, best_epoch = -1.0, 0
        epochs: list[dict[str, Any]] = []
        for epoch in range(1, options.passes + 1):
            order = permutation(len(self._examples.sentences), seed, epoch)
            examples, mistakes, updates = learner.learn(order)
            score = None
            if self._dev is not None:
                weights = learner.average()
                score = self.score(self._freeze(weights), self._dev)
                if score > best_score:
                    best, best_score, best_epoch = weights, score, epoch
            report = EpochReport(epoch, options.passes, examples, mistakes, updates, score,
                                 best_epoch or epoch, number, options.runs)
            epochs.append({"run": number, "epoch": epoch, "mistakes": mistakes,
                           "updates": updates, "dev_accuracy": score})
            logger.log(self._log_level, "epoch %d%s: %d mistakes in %d words, dev accuracy %s",
                       epoch, f" of run {number}" if options.runs > 1 else "", mistakes,
                       examples, score)
            if callback is not None:
                callback(report)
            if best and options.patience and epoch - best_epoch >= options.patience:
                break
        return _Run(best or learner.average(), best_epoch or epoch, epochs)

    def _freeze(self, weights: FrozenWeights) -> TaggerModel:
        return TaggerModel(
            column=self._column, tags=self._examples.tags, templates=self._templates,
            extractor=None if self._features is None else extractor_name(self._features),
            weights=QuantisedWeights.of(weights, max(1, len(self._templates))),
            right_to_left=self._options.backwards, beam=self._options.width,
            scheme=self._examples.scheme, parts=self._examples.parts, dictionary=self._forced,
            vocabulary=self._vocabulary, record={})

    def score(self, model: TaggerModel, dev: Examples) -> float:
        """The model's accuracy on a dev set: of the frozen form, the one that people get."""
        result = Evaluation(self._column)
        given = make_labeller(model, self._features).label(model.inputs(dev.sentences))
        for truth, labels in zip(dev.gold, given, strict=True):
            result.add(truth, labels, [True] * len(labels))
        return result.accuracy


def resolve_templates(options: TrainingOptions, evidence: Sequence[str]) -> tuple[Template, ...]:
    """The templates that the options ask for; a named list looks at all evidence columns."""
    if isinstance(options.templates, str):
        return preset(options.templates, evidence)
    return check_templates(options.templates)
