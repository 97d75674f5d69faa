"""Distillation: a fast tagger learns from gold sentences and from text that others labeled.

The others are slow taggers of this library, which label raw text, and files that any program wrote.
Each epoch takes all gold sentences and a random share of the raw ones, shuffled together. Labels
of raw sentences are predictions, and there are many of them, so their steps are smaller. Features
are those of the gold sentences alone: with those of millions of raw tokens the model is many times
as large, and no better.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from perceptron_nlp._checks import MAX_THREADS, check_int, check_number
from perceptron_nlp._core.features.extract import FeatureProgram
from perceptron_nlp._core.train.greedy import learn
from perceptron_nlp._core.train.trainingset import TrainingSet
from perceptron_nlp._display import counted, percent
from perceptron_nlp.combine.merge import factors_of, named_taggers
from perceptron_nlp.combine.votes import Hand, PseudoLabeled, pseudo_label
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, quote
from perceptron_nlp.features.templates import compile_templates
from perceptron_nlp.formats import Corpus
from perceptron_nlp.sampling import permutation, without_replacement
from perceptron_nlp.tagger.model.label_components import JOINT
from perceptron_nlp.tagger.sources import Labeled, Source, learned_columns, named_columns
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

Teachers: TypeAlias = "Tagger | str | os.PathLike[str] | Sequence[Tagger | str | os.PathLike[str]]"

RAW_SHARE = 0.3
RAW_WEIGHT = 0.3
# Text in the teachers' language has new words, but not that many.
TOO_MANY_UNKNOWN = 0.5


class Student(Learner):
    """Learns greedily, with templates, from gold and from pseudo-labeled sentences.

    Sentences are numbered through: first the gold ones, then the others, in which learning steps
    are multiplied by `weight`.
    """

    # Raw sentences learn the features that gold ones have brought so far.
    keeps_features = False

    def __init__(self, task: Task, labeled: PseudoLabeled, weight: float) -> None:
        examples, options = task.examples, task.options
        compiled = compile_templates(task.templates)
        if len(compiled.columns) > 1:
            raise ArgumentError(
                f"templates: they look at column {compiled.columns[1]}, which raw text lacks"
            )
        strings, tokens = examples.encoded(compiled.columns)
        numbers = {word: number for number, word in enumerate(strings[0])}
        renumbered = np.array(
            [numbers.setdefault(word_bytes(word), len(numbers)) for word in labeled.words], np.int32
        )
        always = {
            word_bytes(word): examples.tags.id_of(label) for word, label in task.forced.items()
        }
        self._options = options
        n_gold = len(examples.sentences)
        self._scales = np.concatenate([np.ones(n_gold), weight * labeled.weights])
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
            n_open=n_gold,
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
            scales=self._scales[order],
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
    teachers: Teachers = (),
    *,
    raw: RawSource | None = None,
    train: Labeled,
    labeled: str | os.PathLike[str] | Corpus | Sequence[Labeled] = (),
    weights: Iterable[float] | None = None,
    dev: Labeled | None = None,
    column: str | None = None,
    format: str = "auto",
    fields: Sequence[str] | None = None,
    callback: Callback | None = None,
    **options: Any,
) -> Tagger:
    """Train a greedy tagger on gold sentences and on text that teachers, or others, label.

    It tags as fast as one that was trained with the same preset, and is no larger. The teachers may
    be as slow as they like: models of the preset "accurate" trained on the same gold sentences with
    several seeds, or reading from either end; or any program that writes a file. Each raw word gets
    the label with more than half of the votes; if they are divided, nothing is learned from it.

    Parameters
    ----------
    teachers : taggers, or paths of models; none, one or several, of one column (of
        taggers of several, `column` counts, or else the first) and with the same labels
    raw : tokenized text, cut into words as the gold sentences are: a path, several paths (a
        sentence a line, or CoNLL-U), a Corpus, or lists of words. Millions of words help
    train : gold sentences, as for ``perceptron_nlp.train``
    labeled : what other programs labeled, with the words of the gold sentences' rules: a file, or a
        list with one (or sentences) for each program. On sentences with the same words they
        vote, with the teachers. Confidences in MISC (``Conf=0.97``, ``Conf[upos]=0.97``) are what a
        vote supports its label by
    weights : None for equal ones, or a number above 0 for each of `labeled`: what its vote counts
        (a teacher's counts 1), and, by the ratio to the greatest, the steps in its sentences
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
    share, weight = options.pop("raw_share", RAW_SHARE), options.pop("raw_weight", RAW_WEIGHT)
    for name, value in (("raw_share", share), ("raw_weight", weight)):
        check_number(name, value, 0, 1, above=True)
    chosen = greedy_options(options)
    source = Source(train, "train", format=format, fields=fields)
    taken, learned = teachers_of(teachers, source, column)
    if learned == "lemma":
        raise ArgumentError("column: lemmas are made by edit scripts; distill columns of tags")
    hands = read_hands(labeled, weights, learned, format, fields)
    if not (taken or hands):
        raise ArgumentError("teachers: there are none; name at least one, or labeled files")
    if raw is None and not hands:
        raise ArgumentError("raw: there is none; name text for the teachers to label")
    examples = Examples.read(source, learned, ())
    held_out = None
    if dev is not None:
        held_out = Examples.read(Source(dev, "dev", format=format, fields=fields), learned, ())
    examples, notes = with_labels_of(taken, hands, examples)
    examples, chosen, choices = auto_configure(examples, chosen)
    if examples.parts is not None:
        raise ArgumentError(
            f"column: {learned} holds sets of features, which are learned in parts; this cannot be"
            " distilled: train it"
        )
    pseudo = pseudo_label(taken, raw, examples.tags, threads, hands)
    notes += notes_on(pseudo, len(taken), len(hands))
    more: dict[str, Any] = {"raw": {**pseudo.record, "share": share, "weight": weight}}
    if hands:
        more["labeled"] = [{"name": hand.name, "weight": hand.weight} for hand in hands]
    task = Task(
        examples=examples,
        dev=held_out,
        column=learned,
        options=chosen,
        choices=[*choices, *notes],
        more=more,
    )
    model = Trainer(
        task,
        schedule=MixedSchedule(task, len(pseudo.lengths), share),
        make_learner=lambda: Student(task, pseudo, weight),
        checkpoint=kept,
    ).run(callback)
    return Tagger(calibrated_by(model, held_out))


def read_hands(
    labeled: Any,
    weights: Iterable[float] | None,
    column: str,
    format: str,
    fields: Sequence[str] | None,
) -> list[Hand]:
    """Return what others labeled, a file or sentences of each."""
    given = [labeled] if isinstance(labeled, str | os.PathLike | Corpus) else list(labeled)
    factors = factors_of(weights, len(given), "labeled files")
    return [
        Hand.read(Source(one, f"labeled[{at}]", format=format, fields=fields), column, factor)
        for at, (one, factor) in enumerate(zip(given, factors, strict=True))
    ]


def teachers_of(teachers: Teachers, source: Source, column: str | None) -> tuple[list[Tagger], str]:
    """Return the teachers, and the column of a text that they teach."""
    if not isinstance(column, str | None):
        raise ArgumentTypeError(
            f"column: a str is needed, not {type(column).__name__}; one column is distilled"
        )
    named_columns(column)
    wanted = None if column is None else source.column_named(column)
    taken = take_teachers(teachers, wanted)
    if not taken:
        return taken, learned_columns([] if wanted is None else [wanted], source)[0]
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


def with_labels_of(
    teachers: Sequence[Tagger], hands: Sequence[Hand], examples: Examples
) -> tuple[Examples, list[str]]:
    """Return the examples with the labels that only teachers know, and notes on labels."""
    gold, known = {*examples.tags}, {label for hand in hands for label in hand.labels}
    known.update(*(teacher.model.written_labels for teacher in teachers[:1]))
    if not gold & known:
        raise ArgumentError(
            f"teachers: their labels (such as {quote(min(known))}) and those of the gold sentences"
            f" (such as {quote(min(gold))}) have nothing in common"
        )
    notes = []
    of_teachers = "in the gold sentences, and are learned from raw text alone"
    for some, what in (
        (known - gold, f"of the teachers are not {of_teachers}"),
        (gold - known, "of the gold sentences are unknown to the teachers, who predict others"),
    ):
        if some:
            names = ", ".join(quote(label) for label in sorted(some)[:5])
            notes.append(f"{len(some)} labels {what}: {names}")
            logger.warning("%s", notes[-1])
    return replace(examples, tags=TagSet(gold | known)), notes


def notes_on(labeled: PseudoLabeled, n_teachers: int, n_hands: int) -> list[str]:
    """Return notes on the raw text, and log warnings."""
    notes = [f"{len(labeled.tokens):,} raw tokens"]
    if n_hands:
        notes[0] += f", labeled by {counted(n_hands, 'file')}"
    if n_teachers:
        notes[0] += f", {percent(labeled.unknown, 1)} of them new to the teachers"
    if n_teachers + n_hands > 1:
        notes[0] += f", who agree on {percent(labeled.agreed, 1)}"
    if labeled.unknown > TOO_MANY_UNKNOWN:
        notes.append(
            "most raw tokens are new to the teachers: is the raw text in another language"
            " or script, or cut into words by other rules?"
        )
        logger.warning("%s", notes[-1])
    return notes


def take_teachers(teachers: Teachers, column: str | None = None) -> list[Tagger]:
    """Return the teachers, loaded if paths are given, after a check that they fit together.

    Of a teacher of several columns, `column` counts if it is among them, or else that of the first
    teacher, or else its first.

    Raises ArgumentTypeError if one is neither a Tagger nor a path; ArgumentError if
    they differ in column or labels, or one looks at columns in addition to the words, which raw
    text does not have; FileError, ModelError as for ``perceptron_nlp.load``.
    """
    given = [teachers] if isinstance(teachers, Tagger | str | os.PathLike) else teachers
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        raise ArgumentTypeError(
            f"teachers: taggers or paths are needed, not {type(given).__name__}"
        )
    taken: list[Tagger] = []
    for name, teacher in named_taggers("teachers", given):
        wanted = column or (taken[0].column if taken else teacher.column)
        teacher = teacher.by_column.get(wanted, teacher)
        first = taken[0] if taken else teacher
        if teacher.model.feature_columns:
            raise ArgumentError(
                f"{name}: looks at the columns {', '.join(teacher.model.feature_columns)} in"
                " addition to the words, which raw text does not have"
            )
        if teacher.model.scheme == JOINT:
            raise ArgumentError(
                f"{name}: labels {teacher.column} with sets of features, which are learned in"
                " components; this cannot be distilled: train it"
            )
        if teacher.column != first.column:
            raise ArgumentError(
                f"{name}: labels column {teacher.column}, and the first teacher {first.column};"
                " teachers must be of one column"
            )
        if odd := {*teacher.labels} ^ {*first.labels}:
            raise ArgumentError(
                f"{name}: has other labels than the first teacher (such as {quote(min(odd))},"
                " which one of them lacks); train them on the same text"
            )
        taken.append(teacher)
    return taken
