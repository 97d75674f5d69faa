"""The training loop: epochs over labelled sentences, scored on a dev set, the best one kept."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from perceptron_nlp._version import __version__
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, FormatError
from perceptron_nlp.features.templates import Template, check_templates, preset
from perceptron_nlp.sampling import permutation
from perceptron_nlp.tagging.evaluation import Evaluation
from perceptron_nlp.tagging.examples import Examples
from perceptron_nlp.tagging.extractor import Extractor, extractor_name
from perceptron_nlp.tagging.learners import FunctionLearner, Learner, TemplateLearner
from perceptron_nlp.tagging.model import TaggerModel, vocabulary_of
from perceptron_nlp.tagging.options import TrainingOptions
from perceptron_nlp.tagging.quantised import QuantisedWeights
from perceptron_nlp.tagging.sources import Labelled, Source
from perceptron_nlp.tagging.tagger import Tagger

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
    """

    epoch: int
    epochs: int
    examples: int
    mistakes: int
    updates: int
    dev_accuracy: float | None
    best_epoch: int

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
    """

    def __init__(self, examples: Examples, dev: Examples | None, column: str,
                 options: TrainingOptions, features: Extractor | None) -> None:
        self._examples = examples
        self._dev = dev
        self._column = column
        self._options = options
        self._features = features
        self._templates = (
            () if features is not None else resolve_templates(options, examples.columns))
        self._vocabulary = vocabulary_of(examples.vocabulary())
        self._words = examples.vocabulary()
        self._forced = (
            {} if options.dictionary is None else examples.unambiguous(*options.dictionary))
        self._learner = self._make_learner()

    def _make_learner(self) -> Learner:
        if self._features is not None:
            return FunctionLearner(self._examples, self._features, self._options, self._forced)
        return TemplateLearner(self._examples, self._templates, self._options, self._forced)

    def run(self, callback: Callback | None) -> Tagger:
        """Train to the end; the tagger of the best epoch, or of the last one without a dev set."""
        options = self._options
        best: Tagger | None = None
        best_score, best_epoch = -1.0, 0
        epochs: list[dict[str, Any]] = []
        for epoch in range(1, options.epochs + 1):
            order = permutation(len(self._examples.sentences), options.seed, epoch)
            examples, mistakes, updates = self._learner.learn(order)
            score = None
            if self._dev is not None:
                tagger = self._freeze()
                score = self._score(tagger)
                if score > best_score:
                    best, best_score, best_epoch = tagger, score, epoch
            report = EpochReport(epoch, options.epochs, examples, mistakes, updates, score,
                                 best_epoch or epoch)
            epochs.append({"epoch": epoch, "mistakes": mistakes, "updates": updates,
                           "dev_accuracy": score})
            logger.info("epoch %d: %d mistakes in %d words, dev accuracy %s", epoch, mistakes,
                        examples, score)
            if callback is not None:
                callback(report)
            if best and options.patience and epoch - best_epoch >= options.patience:
                break
        return self._finish(best or self._freeze(), best_epoch or epoch, epochs)

    def _freeze(self) -> Tagger:
        weights = QuantisedWeights.of(self._learner.average(), max(1, len(self._templates)))
        model = TaggerModel(
            column=self._column, tags=self._examples.tags, templates=self._templates,
            extractor=None if self._features is None else extractor_name(self._features),
            weights=weights, right_to_left=self._options.right_to_left, dictionary=self._forced,
            vocabulary=self._vocabulary, record={})
        return Tagger(model, features=self._features)

    def _score(self, tagger: Tagger) -> float:
        dev = self._dev
        if dev is None:
            raise ArgumentError("dev: there is none to score on")
        result = Evaluation(self._column)
        needs_more = self._features is not None or tagger.model.evidence
        given = tagger.tag_sents(
            list(dev.sentences) if needs_more else [list(s.words) for s in dev.sentences])
        for truth, labels in zip(dev.gold, given, strict=True):
            result.add(truth, labels, [True] * len(labels))
        return result.accuracy

    def _finish(self, tagger: Tagger, best_epoch: int, epochs: list[dict[str, Any]]) -> Tagger:
        record = {
            "version": __version__, "options": self._options.record(),
            "train": self._examples.record(),
            "dev": None if self._dev is None else self._dev.record(),
            "epochs": epochs, "best_epoch": best_epoch,
        }
        return Tagger(replace(tagger.model, record=record), features=self._features)


def resolve_templates(options: TrainingOptions, evidence: Sequence[str]) -> tuple[Template, ...]:
    """The templates that the options ask for; a named list looks at all evidence columns."""
    if isinstance(options.templates, str):
        return preset(options.templates, evidence)
    return check_templates(options.templates)


def train(train: Labelled, *, dev: Labelled | None = None, column: str | None = None,
          features: Extractor | None = None, format: str = "auto",
          fields: Sequence[str] | None = None, callback: Callback | None = None,
          **options: Any) -> Tagger:
    """Train a tagger.

    Parameters
    ----------
    train : a path, several paths, a Corpus, or labelled sentences: Sentence objects, pairs
        (words, labels), or lists of (word, label) pairs
    dev : the like; the epoch that does best on it is kept, and training may stop early
    column : the column to learn; None for ``upos`` in CoNLL-U, the last one of column files,
        the one of word/TAG text
    features : a function (tokens, i, history) -> features in place of templates (extractor.py)
    format, fields : see ``perceptron_nlp.open_corpus``; where columns are named by `fields`,
        those besides the words and the learnt one are evidence
    callback : called with an EpochReport after each epoch
    **options : the fields of TrainingOptions: epochs, seed, update, templates, table_bits,
        min_count, dictionary, patience, right_to_left

    Returns
    -------
    Tagger

    Raises
    ------
    FormatError : a file breaks its format (file:line), or nothing in it is labelled
    FileError : a file cannot be read
    ArgumentError, ArgumentTypeError, TemplateError : an option cannot be used
    """
    chosen = make_options(options)
    if features is not None:
        extractor_name(features)
    source = Source(train, "train", format=format, fields=fields)
    learnt = column or source.default_column
    if learnt is None:
        raise FormatError("plain text has no labels to learn from", source.place)
    evidence = evidence_columns(chosen, features, fields, learnt)
    examples = Examples.read(source, learnt, evidence)
    held_out = None
    if dev is not None:
        held_out = Examples.read(
            Source(dev, "dev", format=format, fields=fields), learnt, evidence)
    return Trainer(examples, held_out, learnt, chosen, features).run(callback)


def make_options(options: dict[str, Any]) -> TrainingOptions:
    """TrainingOptions out of keyword arguments; ArgumentTypeError names one that is unknown."""
    unknown = options.keys() - {name for name in TrainingOptions.__dataclass_fields__}
    if unknown:
        raise ArgumentTypeError(
            f"{min(unknown)}: there is no such option; there are"
            f" {', '.join(TrainingOptions.__dataclass_fields__)}")
    return TrainingOptions(**options)


def evidence_columns(options: TrainingOptions, features: Extractor | None,
                     fields: Sequence[str] | None, learnt: str) -> tuple[str, ...]:
    """The columns besides the words that features are made of."""
    if features is None and not isinstance(options.templates, str):
        templates = check_templates(options.templates)
        wanted = sorted(set().union(*(t.columns for t in templates)))
    else:
        wanted = [name for name in fields or () if name not in ("form", learnt)]
    if learnt in wanted:
        raise ArgumentError(f"templates: they look at column {learnt}, which is to be learnt")
    return tuple(wanted)
