"""Automatic configuration: what the options leave open is chosen by the training text.

* Which labels hold spans: these are learned in IOBES with a beam. Which are sets of features: these
  are learned in parts, with the part of speech, and where many labels are new, with all that can
  be put together of those seen.
* Spans most of which begin with a capital letter are names: templates for these look at what
  other sentences show of a word, too.
* The direction: right to left, which did better or no worse on the dev sets of all four treebanks
  that it was tried on; left to right for spans, where it made no difference.
* Templates: character n-grams where they help, in columns of features those of folded letters if
  that is better (single labels lost by them on dev), pairs of words where there is text enough to
  learn them from, or where they help. All are measured, greedily and in a few epochs, on a part of
  the training text that is held out.
* What a first pass over features gives: parts of speech where there is much text, else features.
* How many runs are summed: two, mostly shorter ones, in place of one where labels are learned whole
  and greedily from 10,000 words or more, by the preset ``default``.
"""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np

from perceptron_nlp.features.templatefile import preset
from perceptron_nlp.features.templates import Template
from perceptron_nlp.sampling import permutation
from perceptron_nlp.tagger.evaluation import untrained_labels
from perceptron_nlp.tagger.model.label_components import JOINT, MODES, PIECES, PIECES_AND_WHOLE
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.tag.feature_function import Extractor
from perceptron_nlp.tagger.train.columns import (
    DERIVED,
    as_iobes,
    capital_share,
    closed,
    hold_names,
    holds_features,
    holds_spans,
    unseen_share,
    with_upos,
)
from perceptron_nlp.tagger.train.data import Examples, trained_on
from perceptron_nlp.tagger.train.loop import Task, Trainer, dev_accuracy
from perceptron_nlp.tagger.train.options import AUTO, LearningOptions

logger = logging.getLogger("perceptron_nlp")

BEAM = 4
PART_RULES = ("perceptron", "margin", "adagrad")
# From this share of words with labels never seen on, labels are put together from others.
UNSEEN_LABELS = 0.005
# These differ from others in one part of many, and a wider margin parts them better.
NEW_LABELS_MARGIN = 4.0
NGRAMS = Template.parse("lower.ngrams3-6[0]")
FOLDED_NGRAMS = Template.parse("folded.ngrams3-6[0]")
# The measurement: so many words at most, one sentence in five held out, so many epochs.
SAMPLE_WORDS = 60_000
HELD_OUT = 5
EPOCHS = 3
# Not the option's seed: runs of other seeds must choose the same, so that they can be summed.
SEED = 1
# N-grams must gain this share of the words: less is within the noise of 12,000 words.
NGRAM_GAIN = 0.004
# Labels as wholes, and pairs of words, make the model larger: they must gain more than the noise
# between two taggers that share most of their features, which is smaller.
WHOLE_GAIN, PAIRS_GAIN = 0.001, 0.002
# From so many words on, pairs of words paid on every column tried; below they are measured.
ENOUGH_FOR_PAIRS = 100_000
# From so many words on, parts of speech come first where features are learned in two passes: on
# 200,000 words of English they gave most; on 50,000 of French and Greek, joint labels did.
ENOUGH_FOR_UPOS_FIRST = 100_000
# Two runs of six epochs did better than one of eight on all treebanks tried, of 37,000 to 205,000
# words; far smaller ones were not measured. Where labels are many, as in English XPOS, the usual
# eight did better than six.
ENOUGH_FOR_TWO_RUNS = 10_000
SHORTER_RUN = 6
MANY_LABELS = 32
# Untrained labels that a warning names.
_NAMED = 5


def auto_configure(
    examples: Examples, options: LearningOptions, features: Extractor | None
) -> tuple[Examples, LearningOptions, list[str]]:
    """Return the examples and options to train with, and what was chosen, each in a sentence."""
    if features is not None:
        return examples, options, []
    sequences = options.beam != 1 and options.update != "passive-aggressive"
    spans = sequences and holds_spans(examples)
    in_parts = (
        not spans
        and options.width == 1
        and options.update in PART_RULES
        and holds_features(examples)
    )
    if options.beam is None:
        searched = spans or (sequences and options.preset == "accurate" and not in_parts)
        options = replace(options, beam=BEAM if searched else 1)
    if options.right_to_left is None:
        options = replace(options, right_to_left=not spans)
    notes: list[str] = []
    many_are_new = False
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
        examples, many_are_new, found = choose_parts(examples, options)
        notes += found
        if options.two_passes is None:
            options = replace(options, two_passes=options.preset == "accurate")
        if options.two_passes and examples.scheme == JOINT:
            notes.append(
                "features are learned in two passes, the first one of "
                + ("parts of speech" if wants_upos_first(examples) else "joint labels")
            )
    if options.templates == AUTO:
        templates, found = choose_templates(examples, options, spans)
        options = replace(options, templates=templates)
        notes += found
    if many_are_new:
        examples = closed(examples)
        if options.margin is None:
            options = replace(options, margin=NEW_LABELS_MARGIN)
    if wants_two_runs(examples, options, whole=not spans and not in_parts):
        options = replace(
            options, runs=2, epochs=None if len(examples.tags) > MANY_LABELS else SHORTER_RUN
        )
        notes.append(f"two runs of {options.passes} epochs are summed")
    for note in notes:
        logger.info("%s", note)
    return examples, options, notes


def wants_two_runs(examples: Examples, options: LearningOptions, *, whole: bool) -> bool:
    """Tell if two runs are to be summed, which neither runs nor epochs may rule out."""
    return (
        whole
        and options.preset == "default"
        and options.runs is None
        and options.epochs is None
        and options.update == "adagrad"
        and options.width == 1
        and examples.n_labelled >= ENOUGH_FOR_TWO_RUNS
    )


def wants_upos_first(examples: Examples) -> bool:
    """Tell if the first tagger of a stack gives parts of speech alone, not joint labels."""
    return examples.n_labelled >= ENOUGH_FOR_UPOS_FIRST


def choose_parts(examples: Examples, options: LearningOptions) -> tuple[Examples, bool, list[str]]:
    """The examples with labels to be learned in parts, whether many labels are new, and why.

    Labels as wholes are no parts where new ones are to be put together: these would lack them.
    """
    examples = with_upos(examples)
    sample = _Sample(examples)
    unseen = unseen_share(sample.train, sample.held_out)
    if unseen >= UNSEEN_LABELS:
        return (
            replace(examples, parts=PIECES),
            True,
            [
                f"{100 * unseen:.2f} % of held-out tokens have labels not seen before, so labels"
                " are put together from pieces"
            ],
        )
    probe = _Probe(examples, options)
    small = preset("fast", examples.columns)
    scores = {mode: probe.accuracy(small, parts=mode) for mode in MODES}
    gain = scores[PIECES_AND_WHOLE] - scores[PIECES]
    chosen = PIECES_AND_WHOLE if gain >= WHOLE_GAIN else PIECES
    return (
        replace(examples, parts=chosen),
        False,
        [
            "features are learned in parts: "
            + ", ".join(f"{mode} {100 * score:.2f} %" for mode, score in scores.items())
            + " on held-out tokens"
        ],
    )


def choose_templates(
    examples: Examples, options: LearningOptions, spans: bool
) -> tuple[tuple[Template, ...], list[str]]:
    """Return templates for the column, and what was measured on the way to them."""
    evidence = examples.columns
    if spans and hold_names(examples):
        return preset("names", evidence), [
            f"{100 * capital_share(examples):.1f} % of the spans begin with a capital letter, so"
            " other places of a word in the text are looked at"
        ]
    if spans and {*evidence} - {*DERIVED}:
        return preset("chunk", evidence), []
    small, large = preset("fast", evidence), preset("default", evidence)
    probe = _Probe(examples, options)
    plain = probe.accuracy(small)
    grams = probe.accuracy((*small, NGRAMS))
    notes = [
        f"character n-grams: {100 * plain:.2f} % without, {100 * grams:.2f} % with them"
        " on held-out tokens"
    ]
    more: tuple[Template, ...] = ()
    if grams - plain >= NGRAM_GAIN:
        more, plain = (NGRAMS,), grams
    if more and examples.parts is not None:
        folded = probe.accuracy((*small, FOLDED_NGRAMS))
        notes.append(f"n-grams of folded letters in their place: {100 * folded:.2f} %")
        if folded > plain:
            more, plain = (FOLDED_NGRAMS,), folded
    if options.preset == "fast":
        return (*small, *more), notes
    if examples.n_labelled >= ENOUGH_FOR_PAIRS:
        return (*large, *more), notes
    pairs = probe.accuracy((*large, *more))
    notes.append(
        f"pairs of words: {100 * plain:.2f} % without, {100 * pairs:.2f} % with them"
        " on held-out tokens"
    )
    return (*(large if pairs - plain >= PAIRS_GAIN else small), *more), notes


class _Sample:
    """A part of the training text, and a part of that which is held out."""

    def __init__(self, examples: Examples) -> None:
        order = permutation(len(examples.sentences), SEED)
        words = np.cumsum(examples.lengths()[order])
        chosen = order[: np.searchsorted(words, SAMPLE_WORDS) + 1].tolist()
        self.held_out = examples.part(sorted(chosen[::HELD_OUT]))
        self.train = examples.part(sorted(set(chosen) - set(chosen[::HELD_OUT])))


class _Probe:
    """Quick greedy trainings on a sample, scored on the part of it that is held out."""

    def __init__(self, examples: Examples, options: LearningOptions) -> None:
        # Labels are compared as they are learned, not as they will be written.
        self._sample = _Sample(replace(examples, scheme=None))
        self._options = replace(options, seed=SEED, epochs=EPOCHS, beam=1, runs=1, patience=None)

    def accuracy(self, templates: tuple[Template, ...], parts: str | None = None) -> float:
        """Accuracy on the held-out tokens; 0 if there is too little text to tell."""
        train, held_out = self._sample.train, self._sample.held_out
        if not train.n_labelled or not held_out.n_labelled:
            return 0.0
        if parts is not None:
            train = replace(train, parts=parts)
        options = replace(self._options, templates=templates)
        task = Task(examples=train, column="", options=options)
        return dev_accuracy(Trainer(task, log_level=logging.DEBUG).run(), None, held_out)


def training_warnings(model: TaggerModel, examples: Examples, dev: Examples | None) -> list[str]:
    """Return what may be wrong with the text of a training, each in a sentence.

    Parameters
    ----------
    model : of one column
    examples, dev : the sentences as they were read; dev is None where there were none
    """
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
                f"dev: {new.total():,} of {dev.n_labelled:,} tokens have {what}: {named}{more}"
            )
        seen = trained_on(model.record, dev.sentences, "dev")
        said += [] if seen is None else [seen]
    return said
