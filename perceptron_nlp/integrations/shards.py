"""Training on shards of the text, whichever engine runs the workers.

Each worker resumes the tagger on its shard for an epoch, and the taggers that come back are merged
into the one that the next epoch begins at.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, Protocol

import perceptron_nlp as pn
from perceptron_nlp._checks import check_callback, check_int, check_options, check_version
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, FormatError

MOST_WORKERS = 10_000
# What looks at all of the text at once, or at what one process has done.
_WHOLE = ("checkpoint", "every", "resume", "learn_dev", "max_memory")


class Workers(Protocol):
    """The processes of an engine."""

    def hand_over(self, value: Any) -> Any:
        """Return what stands for a value in a call, so that it travels once."""

    def call(self, job: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> Iterable[Any]:
        """Return the results of calls of a job, in any order."""


def train_on_shards(
    engine: Workers,
    data: Any,
    *,
    workers: int,
    dev: Any = None,
    format: str = "auto",
    fields: Sequence[str] | None = None,
    callback: Callable[[pn.EpochReport], object] | None = None,
    **options: Any,
) -> pn.Tagger:
    """Train a tagger on shards of the text, by workers whose weights are mixed after each epoch.

    Parameters
    ----------
    engine : what the workers run on
    workers : 1 to 10,000; the model depends on it. With one, this is ``perceptron_nlp.train``
    data, dev, format, fields, callback, **options : as for ``perceptron_nlp.train``, but
        for checkpoints, bounds on memory, learn_dev and verbose

    Raises
    ------
    ArgumentError, ArgumentTypeError, FileError, FormatError : as for train and Tagger.resume; there
        are more workers than sentences; an option that does not go with shards
    """
    check_int("workers", workers, 1, MOST_WORKERS)
    check_callback(callback)
    given: dict[str, Any] = {"format": format, "fields": fields}
    if workers == 1:
        return pn.train(data, dev=dev, callback=callback, **given, **options)
    own = {name: value for name, value in options.items() if name not in _OWN}
    check_options(own, [option.name for option in dataclasses.fields(pn.TrainingOptions)])
    chosen = pn.TrainingOptions(**own)
    for name in _WHOLE:
        if getattr(chosen, name, None):
            raise ArgumentError(f"{name}: does not go with shards; leave it out, or use one worker")
    if chosen.min_count > 1:
        raise ArgumentError(
            f"min_count: {chosen.min_count} with {workers} workers: none of them sees how often a"
            " feature is in the whole text; leave min_count out, or give workers=1"
        )
    corpora, sentences = _read(data, given)
    held_out = None if dev is None else _read(dev, given)[1]
    if workers > len(sentences):
        raise ArgumentError(
            f"workers: {workers:,} are more than there are sentences to learn from"
            f" ({len(sentences):,}); give {len(sentences):,} at most"
        )
    # A stream can be read only once.
    is_there = corpora and all(os.path.isfile(corpus.path) for corpus in corpora)
    if corpora and options.get("column") is None:
        options["column"] = corpora[0].default_column
    tagger = _begun(corpora if is_there else sentences, fields, options)
    shards = [engine.hand_over(sentences[k::workers]) for k in range(workers)]
    passes = max(part.record["options"]["epochs"] for part in tagger.model.parts_by_column)
    best, best_score, best_epoch = tagger, -1.0, 0
    for epoch in range(1, passes + 1):
        start = engine.hand_over(tagger)
        found = engine.call(_learned, ((pn.__version__, start, shard) for shard in shards))
        tagger = pn.merge([one for one in found if one is not None], base=tagger)
        score = None if held_out is None else _accuracy(tagger, held_out)
        if score is None or score > best_score:
            best, best_score, best_epoch = tagger, score or 0.0, epoch
        for report in _reports(tagger, epoch, passes, score, best_epoch):
            if callback is not None:
                callback(report)
        if score is not None and chosen.patience and epoch - best_epoch >= chosen.patience:
            break
    return _finished(best, chosen, held_out)


# Arguments of train that are no options.
_OWN = ("column", "features")


def _begun(
    train: Sequence[Any], fields: Sequence[str] | None, options: Mapping[str, Any]
) -> pn.Tagger:
    """The tagger before its first epoch, of which all is chosen by the whole text."""
    try:
        return pn.train(train, fields=fields, learn=False, **{**options, "size": None})
    except ArgumentError as error:
        if not str(error).startswith(("resumable", "two_passes")):
            raise
        raise ArgumentError(
            "workers: segmentation, lemmas and the second of two passes are learned from all of the"
            " text at once, which no shard has; name columns of tags alone, with two_passes=False,"
            " or give workers=1"
        ) from None


def _learned(version: str, tagger: pn.Tagger, shard: Sequence[Any]) -> pn.Tagger | None:
    """The tagger after an epoch over a shard, None if nothing is labeled there; on a worker."""
    check_version(version)
    try:
        return tagger.resume(shard, epochs=1)
    except FormatError:
        # All that else can be wrong with the text was looked at when the training began.
        return None


def _read(data: Any, given: dict[str, Any]) -> tuple[list[pn.Corpus], list[Any]]:
    """The texts that are named, none for sentences, and all sentences."""
    if not isinstance(data, Iterable | os.PathLike):
        raise ArgumentTypeError(
            f"train: a path or labeled sentences are needed, not {type(data).__name__}"
        )
    items = [data] if isinstance(data, str | os.PathLike | pn.Corpus) else list(data)
    if not all(isinstance(one, str | os.PathLike | pn.Corpus) for one in items):
        return [], items
    corpora = [one if isinstance(one, pn.Corpus) else pn.open_corpus(one, **given) for one in items]
    return corpora, list(chain.from_iterable(corpora))


def _accuracy(tagger: pn.Tagger, dev: Sequence[Any]) -> float:
    """The mean over columns."""
    found = [tagger.evaluate(dev, column=name).accuracy for name in tagger.columns]
    return sum(found) / len(found)


def _reports(
    tagger: pn.Tagger, epoch: int, epochs: int, score: float | None, best_epoch: int
) -> Iterable[pn.EpochReport]:
    for part in tagger.model.parts_by_column:
        n_runs = part.record["options"]["runs"]
        for entry in part.record["epochs"][-n_runs:]:
            yield pn.EpochReport(
                epoch,
                epochs,
                part.record["train"]["labeled"],
                entry["mistakes"],
                entry["updates"],
                score,
                best_epoch,
                entry["run"],
                n_runs,
                part.column,
            )


def _finished(
    tagger: pn.Tagger, chosen: pn.TrainingOptions, dev: Sequence[Any] | None
) -> pn.Tagger:
    """The tagger calibrated, compressed and without its state, as the options ask for."""
    if dev is not None:
        # Of too few tokens, training does without, too.
        with suppress(ArgumentError):
            tagger = tagger.calibrate(dev)
    if not chosen.resumable:
        tagger = tagger.without_state()
    return tagger if chosen.size is None else tagger.compress(chosen.size, dev=dev)
