"""Automatic configuration: what the options leave open is chosen by the training text.

Fixed rules, which the dev sets of treebanks of many families agree on:

* Labels that hold spans are learned in IOBES with a beam. Sets of features are learned in parts,
  together with the part of speech.
* The direction: right to left; left to right for spans, where it made no difference.
* Tags of 150 labels or more that are made of positions, as those of many Slavic treebanks, may be
  learned in parts, too.
* Spans most of which begin with a capital letter are names: templates for these look at what
  other sentences show of a word, too.
* Labels that are learned whole: below 100,000 tokens character n-grams and the endings of both
  neighbors are features, and four or six shorter runs are summed; from there on pairs of words are
  features, and two runs are summed.
* The first pass over features gives parts of speech from 100,000 tokens on, else features.

Measured on held-out training text, by taggers that learn as the training itself will, but in fewer
epochs: the n-grams of features and of long texts; if tags are learned by their positions; and where
features have new labels, if these are put together of the pieces seen, or labels are learned as
wholes, too.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from perceptron_nlp._display import percent
from perceptron_nlp.crossfit import crossfit, in_turn
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.features.templatefile import preset
from perceptron_nlp.features.templates import Template
from perceptron_nlp.sampling import permutation
from perceptron_nlp.tagger.label_scores import untrained_labels
from perceptron_nlp.tagger.model.label_components import JOINT, PIECES, PIECES_AND_WHOLE
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.overlap import trained_on
from perceptron_nlp.tagger.train.columns import (
    DERIVED,
    as_iobes,
    capital_share,
    closed,
    hold_names,
    holds_features,
    holds_spans,
    mode_of_positions,
    n_unseen,
    with_upos,
)
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.loop import Task, Trainer, dev_accuracy, resolve_templates
from perceptron_nlp.tagger.train.options import AUTO, BEST, LearningOptions

logger = logging.getLogger("perceptron_nlp")

BEAM = 4
PART_RULES = ("perceptron", "margin", "adagrad")
# From this share of words with labels never seen on, labels are put together from others.
UNSEEN_LABELS = 0.005
# Labels that are learned in parts differ from others in one of many, and a wider margin parts them
# better.
PARTS_MARGIN = 4.0
NGRAMS = Template.parse("lower.ngrams3-6[0]")
FOLDED_NGRAMS = Template.parse("folded.ngrams3-6[0]")
# Below so many tokens, rules for little text hold. Pairs of words are then too rare to learn from,
# and what words look like tells most.
MUCH_TEXT = 100_000
# For labels learned whole from little text. Held-out text is too short to tell if n-grams help,
# and on eight small treebanks they cost nothing where they do not.
SHORT_NGRAMS = Template.parse("lower.ngrams1-6[0]")
# For little text.
ENDINGS = (Template.parse("lower.suffix2[-1]"), Template.parse("lower.suffix2[1]"))
# The measurement: of so many tokens at most, one sentence in five is held out, then another fifth,
# until so many tokens were; so many epochs.
SAMPLE_TOKENS = 60_000
FOLDS = 5
HELD_OUT_TOKENS = 10_000
EPOCHS = 3
# A gain of so much on so many held-out tokens is clear: the other folds would say the same.
CLEAR_GAIN, CLEAR_TOKENS = 0.015, 2_000
# Not the option's seed: runs of other seeds must choose the same, so that they can be summed.
SEED = 1
# N-grams must gain this share of the tokens: less is within the noise of so many.
NGRAM_GAIN = 0.004
# Whole labels rule out that new labels are put together: where many are new, they must gain this.
WHOLE_GAIN = 0.004
# Tags by their positions take twice the time, so they must gain this; and this if they are to make
# up for the beam, which only labels learned as wholes have.
POSITIONS_GAIN, POSITIONS_GAIN_OVER_BEAM = 0.004, 0.015
# Runs that are summed, shorter than one alone: by default of much and of little text, by accurate
# of little. Where labels are many, as in English XPOS, the usual eight epochs did better than six.
RUNS, RUNS_OF_LITTLE_TEXT, RUNS_OF_LITTLE_TEXT_WITH_BEAM = 2, 4, 6
SHORTER_RUN = 6
MANY_LABELS = 32
# Untrained labels that a warning names.
_NAMED = 5


def auto_configure(
    examples: Examples,
    options: LearningOptions,
    threads: int = 1,
    *,
    positions: bool = False,
    told: Told | None = None,
) -> tuple[Examples, LearningOptions, list[str]]:
    """Return examples and options to train with, and what was chosen, by so many threads.

    positions : labels may be learned by their positions
    told : what held-out tokens have told of an earlier training, which is so in this one, and to
        which is added what they tell now; None to ask them all
    """
    if options.preset == BEST:
        raise ArgumentError("preset: best chooses by many trainings; name another one here")
    sequences = options.beam != 1 and options.update != "passive-aggressive"
    spans = sequences and holds_spans(examples)
    in_parts = (
        not spans
        and options.width == 1
        and options.update in PART_RULES
        and holds_features(examples)
    )
    mode = None
    if positions and not (spans or in_parts) and options.update in PART_RULES:
        is_open = options.width == 1 and options.preset != "fast"
        mode = mode_of_positions(examples.tags.labels) if is_open else None
    if options.beam is None:
        searched = spans or (sequences and options.preset == "accurate" and not in_parts)
        options = replace(options, beam=BEAM if searched else 1)
    if options.right_to_left is None:
        options = replace(options, right_to_left=not spans)
    if options.two_passes is None and in_parts:
        options = replace(options, two_passes=options.preset == "accurate")
    notes: list[str] = []
    probe, unseen = _Probe(threads, {} if told is None else told), 0.0
    if spans:
        examples, broken = as_iobes(examples)
        notes.append(f"spans, written in {str(examples.scheme).upper()}, are learned in IOBES")
        if broken:
            notes.append(
                f"{broken:,} labels break {str(examples.scheme).upper()}: they are read"
                " as conlleval reads them"
            )
            logger.warning("%s: %s", "train", notes[-1])
    elif in_parts:
        examples, options, unseen = with_parts(examples, options, probe)
        if options.two_passes and examples.scheme == JOINT:
            notes.append(
                "features are learned in two passes, the first one of "
                + ("parts of speech" if has_much_text(examples) else "joint labels")
            )
    if options.templates == AUTO:
        templates, found = choose_templates(examples, options, spans, probe)
        options = replace(options, templates=templates)
        notes += found
    if in_parts:
        examples, found = choose_parts(examples, options, unseen, probe)
        notes += found
    if mode is not None:
        examples, options, found = choose_positions(examples, options, mode, probe)
        notes += found
    if not spans:
        options, found = choose_runs(examples, options)
        notes += found
    for note in notes:
        logger.info("%s", note)
    return examples, options, notes


def has_much_text(examples: Examples) -> bool:
    """Tell if rules for little text do not hold."""
    return (examples.n_first or examples.n_labeled) >= MUCH_TEXT


def choose_runs(examples: Examples, options: LearningOptions) -> tuple[LearningOptions, list[str]]:
    """Return the options with runs and epochs, where neither is given, and what was chosen."""
    if options.epochs is not None or options.update != "adagrad":
        return options, []
    little, whole = not has_much_text(examples), examples.parts is None
    runs = options.runs
    if options.preset == "accurate" and little:
        runs = runs or (RUNS_OF_LITTLE_TEXT_WITH_BEAM if whole else None)
    elif options.preset == "default" and options.width == 1 and runs is None and (little or whole):
        runs = RUNS_OF_LITTLE_TEXT if little else RUNS
    else:
        return options, []
    epochs = None if whole and len(examples.tags) > MANY_LABELS else SHORTER_RUN
    options = replace(options, runs=runs, epochs=epochs)
    return options, [f"{options.n_runs} runs of {options.passes} epochs are summed"]


def with_parts(
    examples: Examples, options: LearningOptions, probe: _Probe
) -> tuple[Examples, LearningOptions, float]:
    """Return the examples with labels in parts and as wholes, their options, and a share.

    The share is that of the held-out tokens whose labels are not seen before.
    """
    examples = replace(with_upos(examples), parts=PIECES_AND_WHOLE)
    folds = _folds(examples)
    share = sum(n_unseen(*fold) for fold in folds) / max(1, sum(f.n_labeled for _, f in folds))
    unseen, _ = probe.once("unseen", lambda: (share, 0.0))
    wide = unseen >= UNSEEN_LABELS or not has_much_text(examples)
    if options.margin is None and wide:
        options = replace(options, margin=PARTS_MARGIN)
    return examples, options, unseen


def choose_parts(
    examples: Examples, options: LearningOptions, unseen: float, probe: _Probe
) -> tuple[Examples, list[str]]:
    """Return the examples with the parts of labels that do better, and how they were chosen.

    Where many labels are new, they can be put together of pieces. Labels as wholes are no parts
    then: these would lack them.
    """
    if unseen < UNSEEN_LABELS:
        return examples, ["features are learned in parts: pieces and whole labels"]
    pieces = closed(replace(examples, parts=PIECES))
    plain, wholes = probe.compare((pieces, options), (examples, options))
    note = (
        f"features are learned in parts: pieces {percent(plain)}, with whole labels"
        f" {percent(wholes)} on held-out tokens; {percent(unseen)} of these have labels not"
        " seen before, which are put together from pieces alone"
    )
    return examples if wholes - plain >= WHOLE_GAIN else pieces, [note]


def choose_positions(
    examples: Examples, options: LearningOptions, mode: str, probe: _Probe
) -> tuple[Examples, LearningOptions, list[str]]:
    """Return examples and options for labels by their positions, or as they are, and the reason."""
    margin = PARTS_MARGIN if options.margin is None else options.margin
    by_position = replace(examples, parts=mode), replace(options, beam=1, margin=margin)
    plain, parted = probe.compare((examples, options), by_position)
    wanted = POSITIONS_GAIN if options.width == 1 else POSITIONS_GAIN_OVER_BEAM
    better = parted - plain >= wanted
    note = (
        f"labels are learned {'by their positions, too' if better else 'as wholes'}:"
        f" {percent(plain)} without, {percent(parted)} with positions on held-out tokens"
    )
    return *(by_position if better else (examples, options)), [note]


def choose_templates(
    examples: Examples, options: LearningOptions, spans: bool, probe: _Probe
) -> tuple[tuple[Template, ...], list[str]]:
    """Return templates for the column, and how they were chosen."""
    given = examples.columns
    if spans and hold_names(examples):
        return preset("names", given), [
            f"{percent(capital_share(examples), 1)} of the spans begin with a capital letter, so"
            " other places of a word in the text are looked at"
        ]
    if spans and {*given} - {*DERIVED}:
        return preset("chunk", given), []
    little = not has_much_text(examples)
    small = preset("fast", given)
    if little and not spans:
        small = (*small, *ENDINGS)
    if little and not spans and examples.parts is None:
        return (*small, SHORT_NGRAMS), [
            f"character n-grams and endings of neighbors, as below {MUCH_TEXT:,} tokens"
        ]

    def compare(ours: Sequence[Template], theirs: Sequence[Template]) -> tuple[float, float]:
        first, second = (replace(options, templates=(*small, *more)) for more in (ours, theirs))
        return probe.compare((examples, first), (examples, second))

    plain, grams = compare((), (NGRAMS,))
    notes = [
        f"character n-grams: {percent(plain)} without, {percent(grams)} with them"
        " on held-out tokens"
    ]
    more: tuple[Template, ...] = ()
    if grams - plain >= NGRAM_GAIN:
        more = (NGRAMS,)
    if more and examples.parts is not None:
        grams, folded = compare((NGRAMS,), (FOLDED_NGRAMS,))
        notes.append(f"n-grams of folded letters in their place: {percent(folded)}")
        if folded > grams:
            more = (FOLDED_NGRAMS,)
    pairs = options.preset != "fast" and (spans or not little)
    return (*(preset("default", given) if pairs else small), *more), notes


def _folds(examples: Examples) -> list[tuple[Examples, Examples]]:
    """Return (train, held out) parts of the text, as many as hold out tokens enough."""
    order = permutation(len(examples.sentences), SEED)
    words = np.cumsum(examples.sentences.lengths[order])
    chosen = order[: np.searchsorted(words, SAMPLE_TOKENS) + 1]
    folds: list[tuple[Examples, Examples]] = []
    n_held_out = 0
    for rest, held_out in crossfit(
        in_turn(chosen, FOLDS), examples.part, lambda rest, own: (rest, examples.part(own))
    ):
        folds.append((rest, held_out))
        n_held_out += held_out.n_tokens
        if n_held_out >= HELD_OUT_TOKENS:
            break
    return [fold for fold in folds if all(part.n_labeled for part in fold)]


Candidate = tuple[Examples, LearningOptions]
Told = dict[object, tuple[float, float]]


class _Probe:
    """Quick greedy trainings on folds of the text, each scored on what is held out of it."""

    def __init__(self, threads: int, told: Told) -> None:
        self._threads = threads
        self._told = told
        self._known: dict[object, float] = {}

    def once(self, key: object, find: Callable[[], tuple[float, float]]) -> tuple[float, float]:
        """Return what was found when the same was first asked."""
        if key not in self._told:
            self._told[key] = find()
        return self._told[key]

    def compare(self, first: Candidate, second: Candidate) -> tuple[float, float]:
        """Return the accuracy of each on the held-out tokens; 0 with too little text to tell."""
        key = tuple(
            (examples.parts, resolve_templates(options, examples.columns))
            for examples, options in (first, second)
        )
        return self.once(key, lambda: self._compared(first, second))

    def _compared(self, first: Candidate, second: Candidate) -> tuple[float, float]:
        correct, n_tokens = np.zeros(2), 0
        for number, fold in enumerate(_folds(first[0])):
            n_here = fold[1].n_labeled
            parts = [partial(self._accuracy, *one, number) for one in (first, second)]
            if self._threads == 1:
                shares = [part() for part in parts]
            else:
                # Here, since one thread does without.
                from perceptron_nlp.tagger.train.sidebyside import side_by_side

                shares = side_by_side(parts, self._threads)
            correct += n_here * np.array(shares)
            n_tokens += n_here
            clear = abs(correct[1] - correct[0]) >= CLEAR_GAIN * n_tokens
            if clear and n_tokens >= CLEAR_TOKENS:
                break
        ours, theirs = (correct / max(1, n_tokens)).tolist()
        return ours, theirs

    def _accuracy(
        self, examples: Examples, options: LearningOptions, fold: int, _: object = None
    ) -> float:
        options = replace(
            options,
            templates=resolve_templates(options, examples.columns),
            seed=SEED,
            epochs=EPOCHS,
            beam=1,
            runs=1,
            patience=None,
        )
        key = (examples.parts, options.templates, fold)
        if key not in self._known:
            # Labels are compared as they are learned, not as they will be written.
            train, held_out = _folds(replace(examples, scheme=None))[fold]
            task = Task(examples=train, column="", options=options)
            model = Trainer(task, log_level=logging.DEBUG).run()
            self._known[key] = dev_accuracy(model, held_out)
        return self._known[key]


def training_warnings(model: TaggerModel, examples: Examples, dev: Examples | None) -> list[str]:
    """Return what may be wrong with the text of a training, each in a sentence."""
    said = []
    if len(examples.tags) == 1:
        said.append(
            f"train: every token that has a label in column {model.column} has the same,"
            f" {examples.tags.labels[0]}; there is nothing to choose"
        )
    if dev is not None:
        new = untrained_labels(model, dev.sentences, dev.gold)
        if new:
            named = ", ".join(sorted(new, key=lambda label: (-new[label], label))[:_NAMED])
            more = f" and {len(new) - _NAMED} more" if len(new) > _NAMED else ""
            what = (
                "labels that were never trained"
                if model.lemmas is None
                else "lemmas that no edit script of training makes"
            )
            said.append(
                f"dev: {new.total():,} of {dev.n_labeled:,} tokens have {what}: {named}{more}"
            )
        seen = trained_on(model.record, dev.sentences, "dev")
        said += [] if seen is None else [seen]
    return said
