"""``perceptron-nlp distill``: a fast tagger out of slow ones, gold sentences and raw text."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

import perceptron_nlp as pn
from perceptron_nlp.cli.inputs import (
    check_model_place,
    check_stdin,
    check_there,
    open_inputs,
    save_model,
)
from perceptron_nlp.cli.parsing import (
    MODEL_OUT,
    QUIET,
    THREADS,
    Verb,
    VerbParser,
    format_options,
    picked,
)
from perceptron_nlp.cli.terminal import draw_over, erase_drawn, messages, say
from perceptron_nlp.cli.training import (
    TrainingView,
    add_options,
    check_checkpoint,
    interrupted_message,
    options_given,
    summarize,
)
from perceptron_nlp.combine.distill import RAW_SHARE, RAW_WEIGHT
from perceptron_nlp.tagger.train.clusters import place_of, raw_sentences

_OPTIONS = (
    *("preset", "epochs", "seed", "patience", "runs", "table_bits", "right_to_left", "templates"),
    *("checkpoint", "every", "resume"),
)
# Tokens between two displays of the count.
_STEP = 50_000


def _training(parser: VerbParser) -> None:
    add_options(
        parser,
        _OPTIONS,
        preset="as for train, but accurate cannot be distilled",
        seed="decides the order of sentences, and which raw ones are drawn",
        templates="the features, as for train",
    )
    parser.declare(f"{THREADS}\n{QUIET}")


DISTILL = Verb(
    """\
Train a greedy tagger on gold sentences and on raw text that slower, more accurate taggers label: it
tags as fast as any of its preset.""",
    f"""\
TEACHER...  models with the same labels, which vote by majority; of models of several columns the
    one that --column names, or the first
--raw RAW...  raw text, a tokenized sentence a line, with tokens as in TRAIN, or CoNLL-U, whose
    tokens are taken; compressed files are decompressed; several times for several files (required)
--train TRAIN...  labeled files, alike (required)
{MODEL_OUT}
--dev DEV  a labeled file to keep the best epoch by, and to stop early
--column NAME  the column of labels in TRAIN (default: the column of the teachers)
{format_options()}
--raw-share X={RAW_SHARE}  the share of the raw sentences that each epoch draws, above 0 and at
    most 1
--raw-weight X={RAW_WEIGHT}  the weight of a raw token relative to a gold one, above 0 and at most
    1
""",
    """\
  perceptron-nlp distill slow.model --raw raw.txt.gz --train train.conllu --model fast.model
  perceptron-nlp distill a.model b.model c.model --raw 1.txt --raw 2.txt \\
      --train train.conllu --dev dev.conllu --preset fast --model fast.model""",
    _training,
)


def run_distill(chosen: argparse.Namespace) -> None:
    """Check everything, have the raw text labeled, train, save."""
    labeled = [*chosen.train, *([] if chosen.dev is None else [chosen.dev])]
    inputs = [*chosen.teacher, *chosen.raw, *labeled]
    check_there(inputs)
    check_stdin([*chosen.raw, *labeled], quiet=chosen.quiet)
    check_model_place(chosen.model, inputs)
    check_checkpoint(chosen, inputs)
    options = options_given(chosen, _OPTIONS)
    options |= picked(chosen, "raw_share", "raw_weight", "threads")
    corpora = open_inputs(chosen, labeled)
    if not chosen.quiet:
        n_teachers = len(chosen.teacher)
        say(f"labeling the raw text with {n_teachers} teacher{'s' * (n_teachers > 1)}")
    n_train = len(chosen.train)
    try:
        tagger = pn.distill(
            chosen.teacher,
            raw=chosen.raw if chosen.quiet else _counted(chosen.raw),
            train=corpora[:n_train],
            dev=corpora[n_train:] or None,
            **picked(chosen, "column", "fields"),
            callback=None if chosen.quiet else TrainingView(messages()),
            **options,
        )
    except KeyboardInterrupt as interrupt:
        raise KeyboardInterrupt(interrupted_message(chosen.checkpoint)) from interrupt
    save_model(tagger, chosen.model)
    if not chosen.quiet:
        summarize(tagger, chosen.model)
        for warning in tagger.model.record.get("warnings", []):
            say(f"warning: {warning}")


def _counted(paths: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the sentences of raw text; a terminal shows the number of tokens so far."""
    live = messages().live
    words = shown = 0
    for sentence in raw_sentences(paths):
        words += len(sentence)
        if live and words - shown >= _STEP:
            shown = words
            draw_over(f"{words:,} tokens")
        yield sentence
    erase_drawn()
    if not words:
        raise pn.FormatError("there is no sentence in the raw text", place_of(paths))
