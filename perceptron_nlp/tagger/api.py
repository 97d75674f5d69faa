"""``perceptron_nlp.train``: from a person's arguments to a trained tagger."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from perceptron_nlp._checks import check_callback, check_flag
from perceptron_nlp._display import percent
from perceptron_nlp.errors import ArgumentError, MemoryLimitError
from perceptron_nlp.tagger.model.model import TEXT, TaggerModel
from perceptron_nlp.tagger.sources import (
    ALL,
    Labeled,
    LabelLists,
    Source,
    named_columns,
    with_labels,
)
from perceptron_nlp.tagger.tagger import Tagger
from perceptron_nlp.tagger.train.learning import STAGED, Plan, learn_columns, stage
from perceptron_nlp.tagger.train.loop import Callback, EpochReport
from perceptron_nlp.tagger.train.options import (
    AUTO,
    BEST,
    TrainingOptions,
    TrainOptions,
    options_from,
)

if TYPE_CHECKING:
    from perceptron_nlp.tagger.model.feature_function import Extractor, FeatureFunction


def train(
    train: Labeled,
    labels: LabelLists | None = None,
    *,
    dev: Labeled | None = None,
    column: str | Sequence[str] | None = None,
    features: Extractor | None = None,
    format: str = "auto",
    fields: Sequence[str] | None = None,
    callback: Callback | None = None,
    verbose: bool = False,
    learn: bool = True,
    before_dev: Callable[[Tagger], object] | None = None,
    before_size: Callable[[Tagger], object] | None = None,
    **options: Unpack[TrainOptions],
) -> Tagger:
    """Train a tagger.

    Parameters
    ----------
    train : a path, several paths, a Corpus, or labeled sentences: Sentence objects, pairs
        (words, labels), or lists of (word, label) pairs; or, if `labels` is given, lists of words
    labels : None, or for each list of words as many labels; a label that is None says that the
        word has none
    dev : the same; the epoch that does best on it is kept, and training may stop early
    column : the column to learn; None for ``upos`` in CoNLL-U, the last one of column files,
        the one of word/TAG text. Several names, as a list or separated by commas, make one
        tagger that fills all of these columns, each learned by itself; ``lemma`` sees those of
        tags. ``text`` among them adds segmentation of running text, learned from the spaces of
        CoNLL-U; ``all`` stands for that and every column of tags and lemmas that is filled
    features : a function (tokens, i) -> features: strings, or a mapping whose values are strings
        and bools. They are what the template ``column:features.word.pieces`` makes; unless
        `templates` are given, it stands beside ``tag[-1]`` and ``tag[-1] tag[-2]``
    format, fields : see ``perceptron_nlp.open_corpus``; of the columns that `fields` names, all
        but the words and the learned one are feature columns
    callback : called with an EpochReport after each epoch
    verbose : print a line on standard error after each epoch
    learn : False to choose all that is chosen by the text, and to learn nothing yet: `resume` of
        the tagger on this text makes it what it would have become
    before_dev : with ``learn_dev``: called with the tagger that has not learned `dev` yet, as one
        without ``learn_dev`` would be: what is measured on `dev` is measured on that one. With a
        ``size``, called again with that one in its size
    before_size : with a ``size`` that it does not fit: called with the tagger before it is
        compressed, as one without ``size`` would be
    **options : the fields of ``perceptron_nlp.TrainingOptions`` (docs/reference/options.md): what
        is learned and how, further text to learn from (``raw``, ``lexicon``), the size of the
        model, checkpoints (a resumed training gives the same model, byte for byte, as one that was
        not interrupted), and a bound on memory

    Returns
    -------
    the tagger; the same data, options and seed give the same bytes

    Raises
    ------
    FormatError : a file breaks its format (file:line), or nothing in it is labeled
    FileError : a file cannot be read, or the text cannot be kept on disk
    MemoryLimitError : words, features and weights do not fit max_memory, or the machine
    ArgumentError, ArgumentTypeError, TemplateError : an option cannot be used

    Examples
    --------
    ``perceptron_nlp.train("train.conllu", dev="dev.conllu", epochs=5).save("en.model")``
    """
    check_flag("learn", learn)
    if not learn:
        options = {**options, "resumable": True}
    chosen = options_from(options, TrainingOptions)
    if chosen.preset == BEST or chosen.minutes is not None:
        chosen = stage("options by folds").checked(chosen)
    check_callback(callback)
    check_callback(before_dev)
    check_callback(before_size)
    check_flag("verbose", verbose)
    function: FeatureFunction | None = None
    if features is not None:
        from perceptron_nlp.tagger.model.feature_function import (
            FeatureFunction,
            templates_with_function,
        )

        function = FeatureFunction.of(features)
        chosen = replace(chosen, templates=templates_with_function(chosen.templates, AUTO))
    size = None
    if chosen.size is not None:
        size = stage("compression").checked_size(chosen, dev is not None)
    how: dict[str, Any] = {"format": format, "fields": fields, "function": function}
    source = Source(with_labels(train, labels, "train"), "train", **how)
    if size is not None and dev is not None:
        # They are gone over twice, and may be streams.
        dev = list(Source(dev, "dev", format=format, fields=fields))
        source.hold()
    dev_source = None if dev is None else Source(dev, "dev", **how)
    names = named_columns(column)
    if chosen.abbreviations is not None:
        from perceptron_nlp.tagger.tag.segment import abbreviations_of

        if not {*names} & {ALL, TEXT}:
            raise ArgumentError("abbreviations: are of models that learn text; name it as a column")
        # So that a list that cannot be used is reported at once.
        chosen = replace(chosen, abbreviations=abbreviations_of(chosen.abbreviations))
    if chosen.calibrate is not None:
        stage("calibration by folds").check_calibration(
            chosen, learn=learn, has_dev=dev is not None
        )
        source.hold()
    several = len(names) > 1 or bool({*names} & STAGED) or chosen.threads is not None
    held: list[Tagger] = []

    def unlearned(model: TaggerModel) -> None:
        held.append(Tagger(model.with_fields(source.fields)))
        if before_dev is not None and len(held) == 1:
            before_dev(held[0])

    plan = _plan(
        chosen,
        before_dev=unlearned,
        function=function,
        fields=fields,
        callback=_printing(callback) if verbose else callback,
        learn=learn,
        threads=stage("threads").n_threads(chosen) if several else 1,
    )
    fit = learn_columns
    if chosen.learn_dev or size is not None or {*names} & STAGED:
        fit = partial(
            stage("segmentation, lemmas or dev learned").learn, learn_dev=chosen.learn_dev
        )

    sizing = None if size is None else stage("a size").learned_again(plan, before_size)
    if sizing is not None:
        plan = next(sizing)
    while True:
        try:
            model: TaggerModel | None = fit(source, dev_source, names, plan)
            if model is not None and chosen.calibrate is not None:
                alone = replace(plan, callback=None, checkpoint=None, resumable=False)
                model = stage("calibration by folds").calibrated_by_folds(
                    model, source, lambda rest, own=alone: fit(rest, None, names, own), chosen.seed
                )
        except MemoryLimitError:
            raise
        except MemoryError:
            # What was read and learned goes with this error, and then there is room for another.
            model = None
        if model is None:
            raise MemoryLimitError(
                "train: there is not enough memory for these sentences; give fewer, or have fewer"
                " templates, or set table_bits"
            )
        tagger = Tagger(model.with_fields(source.fields))
        if chosen.abbreviations is not None:
            tagger = tagger.with_cutting(abbreviations=chosen.abbreviations)
        if sizing is None or size is None:
            return tagger
        # What has learned dev is not measured on it.
        judged = held[-1] if held else tagger
        small: list[Tagger] = [judged.compress(size, dev=dev, format=format, fields=fields)]
        if held:
            small.append(tagger.compress(size, like=small[0]))
        try:
            plan = sizing.send((tagger, small))
        except StopIteration as ended:
            small = ended.value
            break
    if before_dev is not None and len(small) > 1:
        before_dev(small[0])
    return small[-1]


def _printing(callback: Callback | None) -> Callback:
    """Return a callback that prints a line for each epoch, and then calls another, if any."""

    def report(epoch: EpochReport) -> None:
        run = f"run {epoch.run}/{epoch.runs}, " if epoch.runs > 1 else ""
        dev = "" if epoch.dev_accuracy is None else f", dev {percent(epoch.dev_accuracy)}"
        print(
            f"{epoch.column}: {run}epoch {epoch.epoch}/{epoch.epochs}:"
            f" train {percent(epoch.train_accuracy)}{dev}",
            file=sys.stderr,
            flush=True,
        )
        if callback is not None:
            callback(epoch)

    return report


def _plan(chosen: TrainingOptions, **given: Any) -> Plan:
    """Return the plan of a training; errors are those of `train`."""
    has_checkpoint = chosen.checkpoint is not None or chosen.every is not None or chosen.resume
    has_resources = chosen.raw is not None or chosen.lexicon is not None
    return Plan(
        chosen.learning(),
        checkpoint=(
            stage("checkpoints").Checkpoint.of(chosen.checkpoint, chosen.every, chosen.resume)
            if has_checkpoint
            else None
        ),
        resources=(
            stage("raw text or a lexicon").Resources.read(chosen.raw, chosen.lexicon)
            if has_resources
            else None
        ),
        resumable=chosen.resumable,
        minutes=chosen.minutes,
        limit=(
            None
            if chosen.max_memory is None
            else stage("a bound on memory").MemoryLimit(chosen.max_memory)
        ),
        **given,
    )
