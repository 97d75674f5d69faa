"""``perceptron-nlp distill``, ``merge``, ``compress``, ``calibrate`` and ``models``.

Models made of models, and those that have names.
"""

from __future__ import annotations

import argparse
import os

import perceptron_nlp as pn
from perceptron_nlp._display import counted
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
    TO,
    Verb,
    VerbParser,
    format_options,
    picked,
)
from perceptron_nlp.cli.results import show
from perceptron_nlp.cli.terminal import messages, say
from perceptron_nlp.cli.training import (
    TrainingView,
    add_options,
    check_checkpoint,
    interrupted_message,
    options_given,
    say_calibration,
    say_cost,
    summarize,
)
from perceptron_nlp.combine.distill import RAW_SHARE, RAW_WEIGHT
from perceptron_nlp.pages.reports import Column, Report, Table
from perceptron_nlp.tagger.tagger import model_path, named_models

CALIBRATE = Verb(
    """\
Calibrate the confidences of a model on labeled text, so that tag --confidence can write them. Its
labels stay the same. Training with --dev does this, too; the text must not be what the model was
trained on.""",
    f"""\
MODEL  a model file
DEV...  labeled files; - is standard input
-o, --output OUT  the file to write, whole or not at all (default: MODEL itself)
{format_options()}
{QUIET}
""",
    """\
  perceptron-nlp calibrate en.model dev.conllu
  perceptron-nlp calibrate en.model dev.conllu -o calibrated.model""",
)


def run_calibrate(chosen: argparse.Namespace) -> None:
    """Read the model, calibrate it, write it."""
    check_there([chosen.model])
    check_stdin(chosen.dev, quiet=True)
    path = chosen.model if chosen.output is None else chosen.output
    check_model_place(path, chosen.dev, "one of the labeled files", "-o")
    tagger = pn.load(chosen.model)
    corpora = open_inputs(chosen, chosen.dev, tagger.model)
    calibrated = tagger.calibrate(corpora, fields=chosen.fields)
    calibrated.save(path)
    if not chosen.quiet:
        say_calibration(calibrated)
        say(f"{path}: {len(calibrated.to_bytes()):,} bytes")


COMPRESS = Verb(
    """\
Make the best model within a size out of one that exists: the features with the heaviest weights
stay, weights are quantized, and all is packed. The cost is printed. Without DEV it is measured on
text that the model itself labels, and a size that changes over 2 % of the labels of a column is
refused.""",
    f"""\
MODEL  a model file
--size SIZE  the largest size of the new file: bytes, or a number with kB, MB or GB (of 1,000) or
    KiB, MiB or GiB (of 1,024) (required)
-o, --output OUT  the file to write, whole or not at all (required)
--dev DEV  a labeled file, by which the precision of the weights is chosen (default: the heaviest is
    127 at most)
--raw RAW...  text without labels, a tokenized sentence a line, on which labels are compared without
    DEV; several times for several files (default: 86 bundled sentences of English)
--force  without DEV: whatever it costs
{format_options()}
{QUIET}
""",
    """\
  perceptron-nlp compress en.model --size 400kB --dev dev.conllu -o small.model
  perceptron-nlp compress fr.model --size 1.1MB --raw fr.txt -o smaller.model""",
)


def run_compress(chosen: argparse.Namespace) -> None:
    """Read the model, compress it, write it."""
    check_there([chosen.model])
    inputs = [] if chosen.dev is None else [chosen.dev]
    check_there(chosen.raw)
    check_model_place(chosen.output, [*inputs, *chosen.raw], "one of the files read", "-o")
    tagger = pn.load(chosen.model)
    corpora = open_inputs(chosen, inputs, tagger.model)
    smaller = tagger.compress(
        chosen.size,
        dev=corpora[0] if corpora else None,
        raw=chosen.raw or None,
        **picked(chosen, "force", "format", "fields"),
    )
    smaller.save(chosen.output)
    if not chosen.quiet:
        if smaller is tagger:
            size = os.path.getsize(model_path(chosen.model))
            say(f"{chosen.model}: {size:,} bytes fit as they are")
        say_cost(smaller, by_dev=bool(corpora))
        say(f"{chosen.output}: {len(smaller.to_bytes()):,} bytes")


MERGE = Verb(
    """\
Make one model out of several that were trained alike on other text. The score of a label is the
weighted mean of its scores by the models; labels and vocabularies are united.""",
    f"""\
models:MODEL...  model files, trained with the same options and templates
{MODEL_OUT}
--weights X,Y,…  the weight of each model, above 0; only their ratios count (default: all the same)
{QUIET}
""",
    """\
  perceptron-nlp merge news.model mail.model --model both.model
  perceptron-nlp merge large.model small.model --weights 3,1 --model both.model""",
)


def run_merge(chosen: argparse.Namespace) -> None:
    """Read the models, merge them, write the one."""
    check_there(chosen.models)
    check_model_place(chosen.model, chosen.models, "one of the models")
    merged = pn.merge(chosen.models, weights=chosen.weights)
    merged.save(chosen.model)
    if not chosen.quiet:
        n_features = sum(part.weights.n_rows for part in merged.model.parts_by_column)
        say(
            f"{chosen.model}: {counted(len(chosen.models), 'model')},"
            f" {n_features:,} features, {len(merged.to_bytes()) / 1e6:.2f} MB"
        )


_OPTIONS = (
    *("preset", "epochs", "seed", "patience", "runs", "table_bits", "right_to_left", "templates"),
    *("checkpoint", "every", "resume"),
)


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
Train a greedy tagger on gold sentences and on text that slower, more accurate taggers label, or any
other program: it tags as fast as any of its preset.""",
    f"""\
[TEACHER...]  models with the same labels, which vote by majority; of models of several columns the
    one that --column names, or the first
--raw RAW...  raw text, a tokenized sentence a line, with tokens as in TRAIN, or CoNLL-U, whose
    tokens are taken; compressed files are decompressed; several times for several files
--labeled FILE...  CoNLL-U that any program labeled, such as UDPipe 2, Stanza or a language model;
    several times for several programs, which vote where the tokens of a sentence are the same;
    confidences in MISC (Conf=0.97, Conf[upos]=0.97) are what a vote supports its label by
--weights X,Y,…  the weight of each labeled file, above 0: what its vote counts, a teacher's
    counting 1, and how much its sentences do; only ratios count (default: all 1)
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
  perceptron-nlp distill --labeled udpipe.conllu --labeled stanza.conllu --weights 1,0.8 \\
      --train train.conllu --model fast.model
  perceptron-nlp distill a.model b.model c.model --raw 1.txt --raw 2.txt \\
      --train train.conllu --dev dev.conllu --preset fast --model fast.model""",
    _training,
)


def run_distill(chosen: argparse.Namespace) -> None:
    """Check everything, have the raw text labeled, train, save."""
    labeled = [*chosen.labeled, *chosen.train, *([] if chosen.dev is None else [chosen.dev])]
    inputs = [*chosen.teacher, *chosen.raw, *labeled]
    check_there(inputs)
    check_stdin([*chosen.raw, *labeled], quiet=chosen.quiet)
    check_model_place(chosen.model, inputs)
    check_checkpoint(chosen, inputs)
    options = options_given(chosen, _OPTIONS)
    options |= picked(chosen, "raw_share", "raw_weight", "threads")
    corpora = open_inputs(chosen, labeled)
    if chosen.teacher and not chosen.quiet:
        say(f"labeling the raw text with {counted(len(chosen.teacher), 'teacher')}")
    n_others = len(chosen.labeled)
    n_given = n_others + len(chosen.train)
    try:
        tagger = pn.distill(
            chosen.teacher,
            raw=chosen.raw or None,
            train=corpora[n_others:n_given],
            labeled=corpora[:n_others],
            dev=corpora[n_given:] or None,
            **picked(chosen, "weights", "column", "fields"),
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


MODELS = Verb(
    """\
List the models that tag, load and the like know by a name: the bundled one, and those of
installed packages. A language's code stands for the one of its models that learned from the most
words. No name reaches the network.""",
    f"""\
--json  the same as --to json
{TO}
""",
    """\
  perceptron-nlp models
  perceptron-nlp models --json""",
)


def run_models(chosen: argparse.Namespace) -> None:
    """List them."""
    rows = []
    for model in named_models():
        card = model.card
        scores = (card.get("small") or card.get("learned train and dev") or {}).get("text", {})
        shares = (scores.get(name) for name in ("UPOS", "UFeats", "Lemmas"))
        rows.append(
            (
                *(model.name, model.language, card.get("treebank"), card.get("license")),
                *(None if share is None else share / 100 for share in shares),
                *(os.path.getsize(model.path), model.package, model.path),
            )
        )
    columns = [
        *(Column("name"), Column("language"), Column("treebank"), Column("license")),
        *(Column("upos", "percent", "UPOS"), Column("feats", "percent", "FEATS")),
        *(Column("lemma", "percent", "lemmas"), Column("bytes", "count")),
        *(Column("package"), Column("path", "data")),
    ]
    about = "UPOS, FEATS, lemmas: F1 in percent, from text, on the treebank's test part"
    report = Report("Models", tables=[Table("models", about, columns, rows)])
    show(report, "json" if chosen.json else chosen.to)
