"""Ray: training on shards of the text by workers anywhere, and tagging of data sets.

A worker that dies is started again from the last mix. What it learns is a function of the state
there and of its shard, so the model is the same, byte for byte.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

from perceptron_nlp._checks import check_choice
from perceptron_nlp.combine.mix import Change, Step, plus, tree, weighted
from perceptron_nlp.errors import (
    ArgumentTypeError,
    EngineError,
    MemoryLimitError,
    PerceptronNLPError,
    missing_extra,
)
from perceptron_nlp.integrations.shard_training import (
    Piece,
    Round,
    Shard,
    ShardCounts,
    Sharding,
    ShardMixer,
    ShardWorker,
)
from perceptron_nlp.integrations.shards import READ_BY, reader_of
from perceptron_nlp.tagger.model.state import RunState
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.loop import Task
from perceptron_nlp.tagger.train.sources import Source

try:
    import ray
    from ray import exceptions
except ImportError:
    raise missing_extra("Ray", "ray") from None

logger = logging.getLogger("perceptron_nlp")

# How often one worker is started again in a piece before that is an error.
RESTARTS = 3
# Seconds.
CONNECTING = 10
_LOST = (
    exceptions.RayActorError,
    exceptions.WorkerCrashedError,
    exceptions.ObjectLostError,
    exceptions.NodeDiedError,
    exceptions.OutOfMemoryError,
)
_FULL = (exceptions.ObjectStoreFullError, exceptions.OutOfDiskError)
_MORE_ROOM = (
    ", and so is the disk that it moves objects to; start Ray with a larger"
    " object_store_memory, or with an object_spilling_directory that has more room, or"
    " have the workers read the files (read_by)"
)
Given = TypeVar("Given")
Done = TypeVar("Done")


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


class _Actor:
    """A worker's process, with its shard and the last changes."""

    def __init__(self, shard: Shard) -> None:
        self._shard: Shard | None = shard
        self._worker: ShardWorker | None = None
        self._changed: RunState | None = None

    def process(self) -> tuple[str, int]:
        """Its host and process number."""
        return socket.gethostname(), os.getpid()

    def learn(self, piece: Piece, given: RunState | None, step: Step | None) -> ShardCounts:
        """See ShardWorker; the changes are kept here."""
        if self._shard is not None:
            self._worker, self._shard = ShardWorker(self._shard), None
        if self._worker is None:
            raise EngineError("engine: a worker has no shard")
        counts, self._changed = self._worker.learn(piece, given, step)
        return counts

    def changed(self) -> RunState | None:
        """The changes of the last piece."""
        return self._changed

    def weighted(self, share: float, words: int, begun: int) -> Change | None:
        """Its term of the mix."""
        return None if self._changed is None else weighted(self._changed, share, words, begun)

    def plus(self, one: Change, other: Change) -> Change:
        """See mix.plus."""
        return plus(one, other)


class RayPool:
    """A shard_training.WorkerPool of actors; `processes` gets host and process number of each."""

    def __init__(self, processes: list[tuple[str, int]], shards: Sequence[Shard]) -> None:
        share = min(1.0, max(1, int(1e4 * processors() / len(shards))) / 1e4)
        if share < 1:
            logger.info("%d workers share %d processors", len(shards), processors())
        self._make = ray.remote(num_cpus=share, scheduling_strategy="SPREAD")(_Actor)
        self._processes = processes
        self._actors: list[Any] = []
        self._deaths = [0] * len(shards)
        self._piece: tuple[Piece, RunState, Any] | None = None
        self._state: Any = None
        with typed():
            self._shards = [ray.put(shard) for shard in shards]
            self._actors = [self._make.remote(shard) for shard in self._shards]
            self._retried(self._note_processes)

    def _note_processes(self) -> None:
        self._processes[:] = ray.get([actor.process.remote() for actor in self._actors])

    def learn(
        self, piece: Piece, state: RunState, step: Step | None, fresh: bool
    ) -> list[ShardCounts]:
        """See shard_training.WorkerPool."""
        with typed():
            self._piece = (piece, state, None if step is None else ray.put(step))
            self._state = None
            self._deaths = [0] * len(self._shards)
            asked = [self._ask(k, fresh) for k in range(len(self._actors))]
            return [self._answer(k, ref) for k, ref in enumerate(asked)]

    def _ask(self, k: int, fresh: bool) -> Any:
        """Have a worker learn the current piece."""
        if self._piece is None:
            raise EngineError("engine: there is no piece to learn")
        piece, state, step = self._piece
        if fresh and self._state is None:
            self._state = ray.put(state)
        return self._actors[k].learn.remote(
            piece, self._state if fresh else None, None if fresh else step
        )

    def _answer(self, k: int, ref: Any) -> ShardCounts:
        while True:
            try:
                counts: ShardCounts = ray.get(ref)
                return counts
            except _LOST as error:
                self._restart(k, error)
                ref = self._ask(k, True)

    def _restart(self, k: int, error: Exception) -> None:
        """Replace a worker that died, if it did not die too often."""
        self._deaths[k] += 1
        if self._deaths[k] > RESTARTS:
            last = str(error).strip().splitlines()[-1:]
            raise EngineError(
                f"engine: the worker of shard {k + 1} died {self._deaths[k]} times while it learned"
                " one piece; it may need more memory than there is where it runs: give more"
                f" workers, or larger machines ({''.join(last)})"
            ) from None
        logger.warning("the worker of shard %d died and is started again", k + 1)
        self._kill(self._actors[k])
        self._actors[k] = self._make.remote(self._shards[k])

    def _retried(self, action: Callable[[], Done]) -> Done:
        """Return the result of an action that needs all workers."""
        while True:
            try:
                return action()
            except _LOST as error:
                self._recover(error)

    def _recover(self, error: Exception) -> None:
        """Start those that died again, and have them learn the current piece again."""
        dead = []
        for k, actor in enumerate(self._actors):
            try:
                ray.get(actor.process.remote())
            except _LOST:
                dead.append(k)
        # If all are there, something that one had sent is lost: that counts as its death.
        for k in dead or range(len(self._actors)):
            self._restart(k, error)
            if self._piece is not None:
                self._answer(k, self._ask(k, True))

    def only(self) -> RunState:
        """See shard_training.WorkerPool."""
        with typed():
            changed: RunState = self._retried(lambda: ray.get(self._actors[0].changed.remote()))
            return changed

    def mixed(self, shares: Sequence[float], words: int, begun: int) -> Change:
        """See shard_training.WorkerPool."""

        def both(one: tuple[int, Any], other: tuple[int, Any]) -> tuple[int, Any]:
            return one[0], self._actors[one[0]].plus.remote(one[1], other[1])

        def mix() -> Change:
            weighed = [
                (k, self._actors[k].weighted.remote(share, words, begun))
                for k, share in enumerate(shares)
            ]
            found: Change = ray.get(tree(weighed, both)[1])
            return found

        with typed():
            return self._retried(mix)

    def close(self) -> None:
        """See shard_training.WorkerPool."""
        for actor in self._actors:
            self._kill(actor)
        self._actors, self._shards, self._piece, self._state = [], [], None, None

    def _kill(self, actor: Any) -> None:
        with contextlib.suppress(exceptions.RayError):
            ray.kill(actor)


class RayEngine:
    """Trains on Ray: ``perceptron_nlp.train(..., engine=RayEngine(workers=4))``.

    The cluster is the one that the program is connected to, or else the one that ``ray.init()``
    finds (RAY_ADDRESS), or else a new one on this machine, which stays until the program ends. A
    worker holds its shard, the weights and the state that it began at. If there are fewer
    processors than workers, these share them.

    Parameters
    ----------
    workers : 1 to 10,000; None for as many as the cluster has processors. The model depends on it:
        with one worker it is that of training without an engine, byte for byte
    mix_by : a shard's share in a mix is in proportion to its ``"errors"``, the tokens that it
        labeled wrong, or to its ``"examples"``, the tokens
    mixes : 1 to 1,000; mixes in an epoch. More of them cost time, not accuracy
    read_by : ``"program"``: it reads the text, holds it and distributes it; or ``"workers"``: each
        reads its part of CoNLL-U files, which every machine has under the same names, and the
        program holds distinct words, labels and counts. The model is the same

    Attributes
    ----------
    rounds : the cost of each piece between two mixes, in the last training
    processes : host and process number of each worker, in the last training

    Raises
    ------
    ArgumentError, ArgumentTypeError : one of these is out of its range
    EngineError : no cluster could be reached or started
    """

    def __init__(
        self,
        workers: int | None = None,
        *,
        mix_by: str = "errors",
        mixes: int = 1,
        read_by: str = "program",
    ) -> None:
        check_choice("read_by", read_by, READ_BY)
        Sharding(workers=1 if workers is None else workers, mix_by=mix_by, mixes=mixes)
        connect()
        self.sharding = Sharding(
            workers=processors() if workers is None else workers, mix_by=mix_by, mixes=mixes
        )
        self.rounds: list[Round] = []
        self.processes: list[tuple[str, int]] = []
        self._read = reader_of(read_by)

    def read(self, source: Source, column: str, feature_columns: Sequence[str]) -> Examples:
        """Return the training sentences of a source; see Examples.read."""
        return self._read(source, column, feature_columns)

    def mixer(self, task: Task) -> ShardMixer:
        """Return the mixer of a training on this engine; see loop.Engine."""
        self.rounds.clear()
        return ShardMixer(self.sharding, partial(RayPool, self.processes), self.rounds, task)


def run_all(job: Callable[[Given], Done], given: Iterable[Given]) -> Iterator[Done]:
    """Yield the results of a job, done on the processors of the cluster, in any order.

    The job can be pickled; it is called with one of `given` at a time. Few more than there are
    processors are under way at a time. A job whose process dies is done again, up to three times.
    Raises EngineError if it dies again and again; PerceptronNLPError if the job does.
    """
    connect()
    remote = ray.remote(num_cpus=1, max_retries=RESTARTS)(lambda job, item: job(item))
    waiting: list[Any] = []
    most = 2 * processors()
    with typed():
        shared = ray.put(job)
        try:
            for item in given:
                waiting.append(remote.remote(shared, item))
                while len(waiting) >= most:
                    ready, waiting = ray.wait(waiting)
                    yield from ray.get(ready)
            while waiting:
                ready, waiting = ray.wait(waiting)
                yield from ray.get(ready)
        except (exceptions.WorkerCrashedError, exceptions.OutOfMemoryError) as error:
            raise EngineError(
                f"engine: a worker died {RESTARTS + 1} times over one job; it may"
                " need more memory than there is where it runs"
            ) from error
        finally:
            for ref in waiting:
                ray.cancel(ref)


def tag_dataset(dataset: Any, tagger: Any, **options: Any) -> Any:
    """Return a Ray data set with columns of labels added.

    Parameters
    ----------
    dataset : a ray.data.Dataset with a column of lists of words, a row a sentence; or of texts
    tagger : an ArrowTagger (integrations.arrow)
    **options : those of ``Dataset.map_batches``, such as ``batch_size`` and ``concurrency``

    Raises
    ------
    ArgumentTypeError : no ArrowTagger
    """
    if not callable(tagger):
        raise ArgumentTypeError(f"tagger: an ArrowTagger is needed, not {type(tagger).__name__}")
    return dataset.map_batches(tagger, batch_format="pyarrow", zero_copy_batch=True, **options)
