"""Ray: training on shards of the text by workers anywhere, and tagging of data sets.

A worker that dies is started again. What it learns is a function of the tagger that the epoch
begins at and of its shard, so the model is the same, byte for byte.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp.errors import EngineError, MemoryLimitError, PerceptronNLPError, missing_extra

try:
    import ray
    from ray import exceptions
except ImportError:
    raise missing_extra("Ray", "ray") from None

# Behind it, so that the extra that is named brings all that is missing.
from perceptron_nlp.integrations.arrow import ArrowTagger
from perceptron_nlp.integrations.shards import train_on_shards

# How often a job whose process died is begun again before that is an error.
RESTARTS = 3
# Seconds.
CONNECTING = 10
_FULL = (exceptions.ObjectStoreFullError, exceptions.OutOfDiskError)
_MORE_ROOM = (
    ", and so is the disk that it moves objects to; start Ray with a larger"
    " object_store_memory, or with an object_spilling_directory that has more room"
)


def connect() -> None:
    """Connect the program to a cluster, its own if there is no other.

    Raises EngineError if there is none, and none could be started.
    """
    if ray.is_initialized():
        return
    _check_address(os.environ.get("RAY_ADDRESS", ""))
    try:
        ray.init(log_to_driver=False, logging_level=logging.ERROR, configure_logging=False)
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        raise EngineError(f"engine: Ray could not be started or reached: {error}") from error


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


def processors() -> int:
    """Processors in the cluster, 1 at least."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


@contextlib.contextmanager
def typed() -> Iterator[None]:
    """Raise the exceptions of Ray as errors of this library."""
    try:
        yield
    except _FULL as error:
        raise MemoryLimitError(f"engine: Ray's object store is full{_MORE_ROOM}") from error
    except exceptions.RayTaskError as error:
        if isinstance(error.cause, PerceptronNLPError):
            raise error.cause from None
        if isinstance(error.cause, _FULL):
            raise MemoryLimitError(
                f"engine: Ray's object store is full where a worker runs{_MORE_ROOM}"
            ) from error
        raise
    except (exceptions.WorkerCrashedError, exceptions.OutOfMemoryError) as error:
        raise EngineError(
            f"engine: a worker died {RESTARTS + 1} times over one job; it may need more memory than"
            " there is where it runs: give more workers, or larger machines"
        ) from error


class RayWorkers:
    """The processors of the cluster that the program is connected to, as shards.Workers."""

    def hand_over(self, value: Any) -> Any:
        """Put a value into the object store; see shards.Workers."""
        with typed():
            return ray.put(value)

    def call(self, job: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Yield the results of calls, in any order; see shards.Workers.

        Few more than there are processors are under way at a time. A call whose process dies is
        done again, up to three times. Raises EngineError if it dies again and again;
        PerceptronNLPError if the job does.
        """
        remote = ray.remote(num_cpus=1, max_retries=RESTARTS)(job)
        waiting: list[Any] = []
        most = 2 * processors()
        with typed():
            try:
                for own in arguments:
                    waiting.append(remote.remote(*own))
                    while len(waiting) >= most:
                        ready, waiting = ray.wait(waiting)
                        yield from ray.get(ready)
                while waiting:
                    ready, waiting = ray.wait(waiting)
                    yield from ray.get(ready)
            finally:
                for ref in waiting:
                    ray.cancel(ref)


def train(data: Any, *, workers: int | None = None, **options: Any) -> pn.Tagger:
    """Train a tagger on shards of the text, by workers whose weights are mixed after each epoch.

    The cluster is the one that the program is connected to, or else the one that ``ray.init()``
    finds (RAY_ADDRESS), or else a new one on this machine, which stays until the program ends.

    Parameters
    ----------
    data, **options : as for ``perceptron_nlp.train``, but for checkpoints, bounds on memory,
        learn_dev and verbose
    workers : 1 to 10,000; None for as many as the cluster has processors. The model depends on it:
        with one worker it is that of training without an engine, byte for byte

    Raises
    ------
    EngineError : no cluster could be reached or started, or a worker dies again and again
    MemoryLimitError : Ray's object store is full
    ArgumentError and others : as for shards.train_on_shards
    """
    connect()
    shards = processors() if workers is None else workers
    return train_on_shards(RayWorkers(), data, workers=shards, **options)


def tag_dataset(dataset: Any, tagger: Any, **options: Any) -> Any:
    """Return a Ray data set with columns of labels added.

    Parameters
    ----------
    dataset : a ray.data.Dataset with a column of lists of words, a row a sentence; or of texts
    tagger : an ArrowTagger (integrations.arrow), or what ``perceptron_nlp.load`` takes
    **options : those of ``Dataset.map_batches``, such as ``batch_size`` and ``concurrency``

    Raises
    ------
    ArgumentTypeError, FileError, ModelError : as for ArrowTagger
    """
    own = tagger if callable(tagger) else ArrowTagger(tagger)
    return dataset.map_batches(own, batch_format="pyarrow", zero_copy_batch=True, **options)
