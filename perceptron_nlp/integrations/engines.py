"""Engines: training on shards of the text by workers anywhere, tagging of Ray's and Spark's data.

Each worker resumes the tagger on its shard for an epoch, and the taggers that come back are merged
into the one that the next epoch begins at. What a worker learns is a function of that tagger and of
its shard: one that dies is started again, and the model is the same, byte for byte.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Protocol

import perceptron_nlp as pn
from perceptron_nlp._checks import check_callback, check_int, check_options, check_version
from perceptron_nlp.errors import (
    ArgumentError,
    ArgumentTypeError,
    EngineError,
    FormatError,
    MemoryLimitError,
    PerceptronNLPError,
    missing_extra,
)

MOST_WORKERS = 10_000
# How often a job whose process died is begun again before that is an error.
RESTARTS = 3
# Seconds.
CONNECTING = 10
# What looks at all of the text at once, or at what one process has done.
_WHOLE = ("checkpoint", "every", "resume", "learn_dev", "max_memory", "calibrate")
_MORE_ROOM = (
    ", and so is the disk that it moves objects to; start Ray with a larger"
    " object_store_memory, or with an object_spilling_directory that has more room"
)


class Workers(Protocol):
    """The processes of an engine."""

    def hand_over(self, value: Any) -> Any:
        """Return what stands for a value in a call, so that it travels once."""

    def call(self, job: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> Iterable[Any]:
        """Return the results of calls of a job, in any order."""


def train(
    data: Any, *, workers: int | None = None, engine: Workers | None = None, **options: Any
) -> pn.Tagger:
    """Train a tagger on shards of the text, by workers whose weights are mixed after each epoch.

    Parameters
    ----------
    data, **options : as for ``perceptron_nlp.train``, but for checkpoints, bounds on memory,
        learn_dev and verbose
    workers : 1 to 10,000; None for as many as the cluster has processors. The model depends on it:
        with one worker it is that of ``perceptron_nlp.train``, byte for byte
    engine : what the workers run on; None for Ray, with the cluster that the program is connected
        to, or else the one that ``ray.init()`` finds (RAY_ADDRESS), or else a new one on this
        machine, which stays until the program ends

    Raises
    ------
    MissingExtraError : Ray is not installed
    EngineError : no cluster could be reached or started, or a worker dies again and again
    MemoryLimitError : Ray's object store is full
    ArgumentError, ArgumentTypeError, FileError, FormatError : as for train and Tagger.resume; there
        are more workers than sentences; an option that does not go with shards
    """
    if engine is None:
        engine = RayWorkers()
        workers = engine.processors if workers is None else workers
    check_int("workers", workers, 1, MOST_WORKERS)
    assert workers is not None
    return pn.train(data, **options) if workers == 1 else _sharded(engine, data, workers, **options)


def _sharded(
    engine: Workers,
    data: Any,
    workers: int,
    *,
    dev: Any = None,
    format: str = "auto",
    fields: Sequence[str] | None = None,
    callback: Callable[[pn.EpochReport], object] | None = None,
    **options: Any,
) -> pn.Tagger:
    check_callback(callback)
    own = {name: value for name, value in options.items() if name not in ("column", "features")}
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
    corpora, sentences = _read(data, format, fields)
    held_out = None if dev is None else _read(dev, format, fields)[1]
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
        score = None
        if held_out is not None:
            accuracies = [tagger.evaluate(held_out, column=c).accuracy for c in tagger.columns]
            score = sum(accuracies) / len(accuracies)
        if score is None or score > best_score:
            best, best_score, best_epoch = tagger, score or 0.0, epoch
        for report in _reports(tagger, epoch, passes, score, best_epoch):
            if callback is not None:
                callback(report)
        if score is not None and chosen.patience and epoch - best_epoch >= chosen.patience:
            break
    if held_out is not None:
        # Of too few tokens, training does without, too.
        with contextlib.suppress(ArgumentError):
            best = best.calibrate(held_out)
    if not chosen.resumable:
        best = best.without_state()
    return best if chosen.size is None else best.compress(chosen.size, dev=held_out)


def _begun(
    data: Sequence[Any], fields: Sequence[str] | None, options: Mapping[str, Any]
) -> pn.Tagger:
    """The tagger before its first epoch, of which all is chosen by the whole text."""
    try:
        return pn.train(data, fields=fields, learn=False, **{**options, "size": None})
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


def _read(
    data: Any, format: str, fields: Sequence[str] | None
) -> tuple[list[pn.Corpus], list[Any]]:
    """The texts that are named, none for sentences, and all sentences."""
    if not isinstance(data, Iterable | os.PathLike):
        raise ArgumentTypeError(
            f"train: a path or labeled sentences are needed, not {type(data).__name__}"
        )
    items = [data] if isinstance(data, str | os.PathLike | pn.Corpus) else list(data)
    if not all(isinstance(one, str | os.PathLike | pn.Corpus) for one in items):
        return [], items
    corpora = [
        one if isinstance(one, pn.Corpus) else pn.open_corpus(one, format=format, fields=fields)
        for one in items
    ]
    return corpora, list(chain.from_iterable(corpora))


def _reports(
    tagger: pn.Tagger, epoch: int, epochs: int, score: float | None, best_epoch: int
) -> Iterable[pn.EpochReport]:
    for part in tagger.model.parts_by_column:
        n_runs = part.record["options"]["runs"]
        for entry in part.record["epochs"][-n_runs:]:
            counts = part.record["train"]["labeled"], entry["mistakes"], entry["updates"]
            run = entry["run"], n_runs, part.column
            yield pn.EpochReport(epoch, epochs, *counts, score, best_epoch, *run)


class RayWorkers:
    """The processors of the Ray cluster that the program is connected to, after it is, if need be.

    Raises MissingExtraError if Ray is not installed; EngineError if there is no cluster, and none
    could be started.
    """

    def __init__(self) -> None:
        try:
            import ray
        except ImportError:
            raise missing_extra("Ray", "ray") from None
        self._ray = ray
        if ray.is_initialized():
            return
        _check_address(os.environ.get("RAY_ADDRESS", ""))
        try:
            ray.init(log_to_driver=False, logging_level=logging.ERROR, configure_logging=False)
        except (ConnectionError, OSError, RuntimeError, ValueError) as error:
            raise EngineError(f"engine: Ray could not be started or reached: {error}") from error

    @property
    def processors(self) -> int:
        """Processors in the cluster, 1 at least."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def hand_over(self, value: Any) -> Any:
        """Put a value into the object store; see Workers."""
        with self.typed():
            return self._ray.put(value)

    def call(self, job: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Yield the results of calls, in any order; see Workers.

        Few more than there are processors are under way at a time. A call whose process dies is
        done again, up to three times. Raises EngineError if it dies again and again;
        PerceptronNLPError if the job does.
        """
        remote = self._ray.remote(num_cpus=1, max_retries=RESTARTS)(job)
        waiting: list[Any] = []
        most = 2 * self.processors
        with self.typed():
            try:
                for own in chain(arguments, [None]):
                    if own is not None:
                        waiting.append(remote.remote(*own))
                    while waiting and (own is None or len(waiting) >= most):
                        ready, waiting = self._ray.wait(waiting)
                        yield from self._ray.get(ready)
            finally:
                for ref in waiting:
                    self._ray.cancel(ref)

    @contextlib.contextmanager
    def typed(self) -> Iterator[None]:
        """Raise the exceptions of Ray as errors of this library."""
        known = self._ray.exceptions
        is_full = (known.ObjectStoreFullError, known.OutOfDiskError)
        try:
            yield
        except is_full as error:
            raise MemoryLimitError(f"engine: Ray's object store is full{_MORE_ROOM}") from error
        except known.RayTaskError as error:
            if isinstance(error.cause, PerceptronNLPError):
                raise error.cause from None
            if isinstance(error.cause, is_full):
                raise MemoryLimitError(
                    f"engine: Ray's object store is full where a worker runs{_MORE_ROOM}"
                ) from error
            raise
        except (known.WorkerCrashedError, known.OutOfMemoryError) as error:
            raise EngineError(
                f"engine: a worker died {RESTARTS + 1} times over one job; it may need more memory"
                " than there is where it runs: give more workers, or larger machines"
            ) from error


def _check_address(address: str) -> None:
    """Raise EngineError if nothing answers at host and port; Ray itself tries for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECTING).close()
    except (OSError, OverflowError) as error:
        raise EngineError(
            f"engine: RAY_ADDRESS is {address}, and no Ray answers there ({error});"
            " start it, or unset RAY_ADDRESS to have one on this machine"
        ) from error
