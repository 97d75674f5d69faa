"""Tuning: options that suit a person's data, by a dev set or by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from perceptron_nlp._checks import check_callback
from perceptron_nlp._version import __version__
from perceptron_nlp.analysis.folds import make_folds
from perceptron_nlp.analysis.tune.bench import Bench, Part, Storage, optuna, silenced
from perceptron_nlp.analysis.tune.search import Search, TuningCallback
from perceptron_nlp.analysis.tune.trials import (
    TuningResult,
    checked_space,
    columns_of,
    plain,
    take_search_options,
)
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.tagger.train.columns import feature_columns, holds_features
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.options import make_options
from perceptron_nlp.tagger.train.pipeline import ALL, TEXT
from perceptron_nlp.tagger.train.sources import Labelled, Source, learned_columns
from perceptron_nlp.text.scripts import LEMMA


def tune(
    train: Labelled,
    *,
    dev: Labelled | None = None,
    folds: int | None = None,
    column: str | None = None,
    format: str = "auto",
    fields: Sequence[str] | None = None,
    callback: TuningCallback | None = None,
    **options: Any,
) -> TuningResult:
    """Search for the options that suit the data.

    Parameters
    ----------
    train : a path, several paths, or labeled sentences (see ``perceptron_nlp.train``)
    dev : the like, to score by
    folds : 2 to 1,000; without `dev`, into how many parts `train` is cut, each of which is held
        out in turn; None for 5, or fewer in a small text. Documents (``# newdoc``,
        ``-DOCSTART-``) stay whole where there are enough of them for parts of about one size
    column, format, fields : as for ``perceptron_nlp.train``
    callback : called with a TuningReport after each epoch and each trial
    **options : fields of ``perceptron_nlp.TrainingOptions`` that are fixed, `epochs` being the
        most that are tried; and these: ``space``, a mapping from names of options to the values
        to try, in place of the usual ones; ``trials``, how many choices are tried at most (20);
        ``minutes``, after which no trial begins; ``state``, a file that keeps what was measured:
        the same call goes on from it, and comes to the same result as without a stop

    Returns
    -------
    TuningResult; ``perceptron_nlp.train(train, dev=dev, **result.options)`` trains the chosen

    Raises
    ------
    FormatError, FileError : as for ``perceptron_nlp.train``
    ArgumentError, ArgumentTypeError : an option cannot be used or tried, there are fewer
        sentences than folds, or the state is of other data or options
    ModelError : the file of the state holds none
    MissingExtraError : Optuna is not installed (extra ``tune``)
    """
    optuna()
    fixed = dict(options)
    search = take_search_options(fixed)
    make_options(fixed)
    space = checked_space(search.space, fixed)
    check_callback(callback)
    if dev is not None and folds is not None:
        raise ArgumentError("folds: there is a dev set to score by, too; leave one of them out")
    source = Source(train, "train", format=format, fields=fields)
    (learned,) = learned_columns([] if column is None else [column], source)
    if learned in (ALL, TEXT, LEMMA):
        raise ArgumentError(
            f"column: {learned} has stages with options of their own, which are not searched; tune"
            " one column of tags, such as upos"
        )
    evidence = feature_columns(make_options(fixed), None, fields, (learned,))
    looked_at = tuple(sorted({*evidence, *columns_of(space.get("templates", ()))}))
    if learned in looked_at:
        raise ArgumentError(f"space: templates look at column {learned}, which is to be learned")
    examples = Examples.read(source, learned, looked_at)
    held_out = (
        None
        if dev is None
        else Examples.read(Source(dev, "dev", format=format, fields=fields), learned, looked_at)
    )
    if search.space is None and holds_features(examples):
        # A beam has no parts of labels to sum up, and takes minutes with a thousand whole ones.
        space.pop("beam", None)
    seed = make_options(fixed).seed
    remarks: tuple[str, ...] = ()
    if held_out is None:
        parts, remarks = _fold_parts(examples, folds, seed)
    else:
        parts = [Part(examples.sentences, held_out.sentences, held_out.gold)]
    identity = {
        "version": __version__,
        "train": examples.record(),
        "dev": None if held_out is None else held_out.record(),
        "column": learned,
        "fields": None if fields is None else list(fields),
        "folds": len(parts),
        "options": plain(fixed),
    }
    with silenced():
        storage = Storage(search.state, identity)
        bench = Bench(parts, learned, fields, fixed, storage, held_out is not None)
        try:
            return Search(bench, space, search, evidence, callback, seed, remarks).run()
        except KeyboardInterrupt as error:
            if storage.path is None:
                raise
            raise type(error)(
                f"what was measured is kept in {storage.path}; the same command goes on"
            ) from None


def _fold_parts(
    examples: Examples, n_folds: int | None, seed: int
) -> tuple[list[Part], tuple[str, ...]]:
    sizes = [sum(label is not None for label in row) for row in examples.gold]
    folds, remarks = make_folds(examples.sentences, sizes, n_folds, seed)
    parts = []
    for held in folds:
        rest = examples.part(sorted(set(range(len(examples.sentences))) - set(held)))
        out = examples.part(held)
        parts.append(Part(rest.sentences, out.sentences, out.gold))
    return parts, tuple(remarks)
