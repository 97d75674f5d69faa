"""Distillation: a fast tagger learns from gold sentences and from raw text that slow ones labeled.

Each epoch takes all gold sentences and a random share of the raw ones, shuffled together. Labels
of raw sentences are predictions, and there are many of them, so their steps are smaller. Features
are those of the gold sentences alone: with those of millions of raw tokens the model is many times
as large, and no better.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_nlp._checks import MAX_THREADS, check_int, check_number
from perceptron_nlp._core.features.extract import FeatureProgram
from perceptron_nlp._core.train.greedy import learn
from perceptron_nlp._core.train.trainingset import TrainingSet
from perceptron_nlp._display import percent
from perceptron_nlp.combine.pseudo_labels import (
    PseudoLabeled,
    Teachers,
    pseudo_label,
    take_teachers,
)
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, quote
from perceptron_nlp.features.templates import Template, compile_templates
from perceptron_nlp.sampling import permutation, without_replacement
from perceptron_nlp.tagger.sources import Labeled, Source, named_columns
from perceptron_nlp.tagger.tagger import Tagger
from perceptron_nlp.tagger.train.auto import auto_configure
from perceptron_nlp.tagger.train.calibrate import calibrated_by
from perceptron_nlp.tagger.train.checkpoint import Checkpoint
from perceptron_nlp.tagger.train.clusters import RawSource
from perceptron_nlp.tagger.train.data import Examples, label_hashes
from perceptron_nlp.tagger.train.learners import Counts, Learner, weight_table
from perceptron_nlp.tagger.train.loop import Callback, Schedule, Task, Trainer
from perceptron_nlp.tagger.train.options import LearningOptions, make_options
from perceptron_nlp.text.tagset import TagSet, word_bytes

logger = logging.getLogger("perceptron_nlp")

RAW_SHARE = 0.3
RAW_WEIGHT = 0.3
# Text in the teachers' language has new words, but not that many.
TOO_MANY_UNKNOWN = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class RawUse:
    """The share of the raw sentences that each epoch draws, and the factor of steps in them.

    Both are above 0, at most 1. Raises ArgumentError, ArgumentTypeError for others.
    """

    share: float = RAW_SHARE
    weight: float = RAW_WEIGHT

    def __post_init__(self) -> None:
        for name, value in (("raw_share", self.share), ("raw_weight", self.weight)):
            check_number(name, value, 0, 1, above=True)


class Student(Learner):
    """Learns greedily, with templates, from gold and from pseudo-labeled sentences.

    Sentences are numbered through: first the gold ones, then the others, in which learning steps
    are multiplied by `weight`.
    """

    # Raw sentences learn the features that gold ones have brought so far.
    keeps_features = False

    def __init__(
        self,
        examples: Examples,
        labeled: PseudoLabeled,
        templates: Sequence[Template],
        options: LearningOptions,
        forced: Mapping[str, str],
        weight: float,
    ) -> None:
        compiled = compile_templates(templates)
        if len(compiled.columns) > 1:
            raise ArgumentError(
                f"templates: they look at column {compiled.columns[1]}, which raw text lacks"
            )
        strings, tokens = examples.encoded(compiled.columns)
        numbers = {word: number for number, word in enumerate(strings[0])}
        renumbered = np.array(
            [numbers.setdefault(word_bytes(word), len(numbers)) for word in labeled.words], np.int32
        )
        always = {word_bytes(word): examples.tags.id_of(label) for word, label in forced.items()}
        self._options = options
        self._weight = weight
        self._n_gold = len(examples.sentences)
        super().__init__(weight_table(len(examples.tags), options))
        self._data = TrainingSet(
            FeatureProgram(compiled),
            self.table,
            strings=[list(numbers)],
            tokens=np.concatenate([tokens[0], renumbered[labeled.tokens]])[np.newaxis],
            lengths=np.concatenate([examples.sentences.lengths, labeled.lengths]),
            gold=np.concatenate([examples.gold_ids(), labeled.labels]),
            label_hashes=label_hashes(examples.tags),
            forced=np.array([always.get(word, -1) for word in numbers], np.int32),
            min_count=options.min_count,
            n_open=self._n_gold,
        )

    def learn(self, order: npt.NDArray[np.int64]) -> Counts:
        """See Learner."""
        options = self._options
        return learn(
            self._data,
            order,
            rule=options.update,
            rate=options.step,
            margin=options.least_lead,
            right_to_left=options.is_right_to_left,
            scales=np.where(order < self._n_gold, 1.0, self._weight),
        )


class MixedSchedule(Schedule):
    """Epochs of all gold sentences and a random share of the `n_raw` others, shuffled together."""

    def __init__(self, task: Task, n_raw: int, share: float) -> None:
        super().__init__(task)
        self._n_raw = n_raw
        self._share = share

    def order(self, run: int, epoch: int) -> npt.NDArray[np.int64]:
        """See Schedule."""
        seed, epoch = self.seed(run), self.number(run, epoch)
        n_drawn = max(1, round(self._share * self._n_raw))
        drawn = without_replacement(self._n_raw, n_drawn, seed, epoch)
        mixed = np.concatenate([np.arange(self.n_sentences), self.n_sentences + drawn])
        return mixed[permutation(len(mixed), seed, epoch)]


def distill(
    teachers: Teachers,
    *,
    raw: RawSource,
    train: Labeled,
    dev: Labeled | None = None,
    column: str | None = None,
    format: str = "auto",
    fields: Sequence[str] | None = None,
    callback: Callback | None = None,
    **options: Any,
) -> Tagger:
    """Train a greedy tagger on gold sentences and on raw text that teachers label.

    It tags as fast as one that was trained with the same preset, and is no larger. The teachers may
    be as slow as they like: models of the preset "accurate" trained on the same gold sentences with
    several seeds, or reading from either end. Each raw word gets the label that more than half of
    them give it; if they are divided, nothing is learned from it.

    Parameters
    ----------
    teachers : taggers, or paths of models; one or several, of one column (of
        taggers of several, `column` counts, or else the first) and with the same labels
    raw : tokenized text, cut into words as the gold sentences are: a path, several paths (a
        sentence a line, or CoNLL-U), a Corpus, or lists of words. Millions of words help
    train : gold sentences, as for ``perceptron_nlp.train``
    dev : the like; the epoch that does best on it is kept, and training may stop early
    column : the column of the gold labels; None for that of the teachers
    format, fields : of `train` and `dev`; see ``perceptron_nlp.open_corpus``
    callback : called with an EpochReport after each epoch; its counts are of gold and raw tokens
    **options : ``raw_share``, the share of the raw sentences that each epoch draws (above 0, at
        most 1); ``raw_weight``, the factor of learning steps in them (above 0,
        at most 1); ``threads`` that label the raw text, 1 to 1,024; and those of
        ``perceptron_nlp.train``, but for a beam, two passes and the preset "accurate"

    Raises
    ------
    FileError, FormatError, ModelError : a file cannot be read or breaks its format, or there is
        no sentence or label in it
    ArgumentError, ArgumentTypeError, TemplateError : an option cannot be used, or teachers and
        gold sentences do not fit together
    """
    kept = Checkpoint.of(
        options.pop("checkpoint", None), options.pop("every", None), options.pop("resume", False)
    )
    threads = options.pop("threads", 1)
    check_int("threads", threads, 1, MAX_THREADS)
    use = RawUse(
        share=options.pop("raw_share", RAW_SHARE), weight=options.pop("raw_weight", RAW_WEIGHT)
    )
    chosen = greedy_options(options)
    source = Source(train, "train", format=format, fields=fields)
    taken, learned = teachers_of(teachers, source, column)
    examples = Examples.read(source, learned, ())
    held_out = None
    if dev is not None:
        held_out = Examples.read(Source(dev, "dev", format=format, fields=fields), learned, ())
    examples, notes = with_labels_of(taken[0], examples)
    examples, chosen, choices = auto_configure(examples, chosen)
    if examples.parts is not None:
        raise ArgumentError(
            f"column: {learned} holds sets of features, which are learned in parts; this cannot be"
            " distilled: train it"
        )
    labeled = pseudo_label(taken, raw, examples.tags, threads)
    notes += notes_on(labeled, len(taken))
    task = Task(
        examples=examples,
        dev=held_out,
        column=learned,
        options=chosen,
        choices=[*choices, *notes],
        more={
            "raw": {
                "sentences": len(labeled.lengths),
                "tokens": len(labeled.tokens),
                "sha256": labeled.digest,
                "share": use.share,
                "weight": use.weight,
            }
        },
    )
    model = Trainer(
        task,
        schedule=MixedSchedule(task, len(labeled.lengths), use.share),
        make_learner=lambda: Student(
            examples, labeled, task.templates, chosen, task.forced, use.weight
        ),
        checkpoint=kept,
    ).run(callback)
    return Tagger(calibrated_by(model, held_out))


def teachers_of(teachers: Teachers, source: Source, column: str | None) -> tuple[list[Tagger], str]:
    """Return the teachers, and the column of a text that they teach."""
    if not isinstance(column, str | None):
        raise ArgumentTypeError(
            f"column: a str is needed, not {type(column).__name__}; one column is distilled"
        )
    named_columns(column)
    taken = take_teachers(teachers, None if column is None else source.column_named(column))
    learned = source.column_named(column or taken[0].column)
    if learned != taken[0].column and {learned, taken[0].column} <= {*source.column_names}:
        raise ArgumentError(
            f"column: the teachers are of {quote(taken[0].column)}, which cannot teach"
            f" {quote(learned)}"
        )
    return taken, learned


def greedy_options(given: dict[str, Any]) -> LearningOptions:
    """Return the options of a student, which reads a sentence once and labels greedily."""
    options = make_options(given)
    if options.preset == "accurate":
        raise ArgumentError(
            "preset: accurate searches with a beam, and distill trains a greedy tagger; use fast"
            " or default"
        )
    if options.width > 1:
        raise ArgumentError(
            f"beam: {options.beam} asks for a search, and distill trains a greedy tagger"
        )
    if options.two_passes:
        raise ArgumentError("two_passes: distill trains a tagger of one pass")
    return replace(options, beam=1, two_passes=False, runs=options.n_runs)


def with_labels_of(teacher: Tagger, examples: Examples) -> tuple[Examples, list[str]]:
    """Return the examples with the labels that only the teacher knows, and notes on labels."""
    if teacher.model.lemmas is not None:
        raise ArgumentError(
            "teachers: lemmas are made by edit scripts, which cannot be distilled; distill the"
            " columns of tags"
        )
    gold, known = {*examples.tags}, teacher.model.written_labels
    if not gold & known:
        raise ArgumentError(
            f"teachers: their labels (such as {quote(min(known))}) and those of the gold sentences"
            f" (such as {quote(min(gold))}) have nothing in common"
        )
    notes = []
    for some, what in (
        (
            known - gold,
            "of the teachers are not in the gold sentences, and are learned from raw text alone",
        ),
        (gold - known, "of the gold sentences are unknown to the teachers, who predict others"),
    ):
        if some:
            names = ", ".join(quote(label) for label in sorted(some)[:5])
            notes.append(f"{len(some)} labels {what}: {names}")
            logger.warning("%s", notes[-1])
    return replace(examples, tags=TagSet(gold | known)), notes


def notes_on(labeled: PseudoLabeled, n_teachers: int) -> list[str]:
    """Return notes on the raw text, and log warnings."""
    notes = [
        f"{len(labeled.tokens):,} raw tokens, {percent(labeled.unknown, 1)} of them new to the"
        " teachers"
    ]
    if n_teachers > 1:
        notes[0] += f", who agree on {percent(labeled.agreed, 1)}"
    if labeled.unknown > TOO_MANY_UNKNOWN:
        notes.append(
            "most raw tokens are new to the teachers: is the raw text in another language"
            " or script, or cut into words by other rules?"
        )
        logger.warning("%s", notes[-1])
    return notes
