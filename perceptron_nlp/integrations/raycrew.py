"""Workers on Ray, one a shard, and the cluster that they are on."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from perceptron_nlp.combine.mix import Change, Step, plus, tree, weighted
from perceptron_nlp.errors import EngineError, MemoryLimitError, PerceptronNLPError, missing_extra
from perceptron_nlp.integrations.shards import Piece, Shard, ShardCounts, ShardWorker
from perceptron_nlp.tagger.model.state import RunState

try:
    import ray
    from ray import exceptions
except ImportError:
    raise missing_extra("Ray", "ray") from None

logger = logging.getLogger("perceptron_nlp")

# How often one worker is started again in a piece before somebody has to look into it.
RESTARTS = 3
# Seconds that a cluster may take to answer.
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
    ", and so is the disc that it moves objects to; start Ray with a larger"
    " object_store_memory, or with an object_spilling_directory that has more room, or"
    " have the workers read the files (read_by)"
)
Done = TypeVar("Done")


def connect() -> None:
    """Make sure that the program is connected to a cluster, its own if there is no other.

    Raises
    ------
    EngineError : there is none, and none could be started
    """
    if ray.is_initialized():
        return
    _check_address(os.environ.get("RAY_ADDRESS", ""))
    try:
        ray.init(log_to_driver=False, logging_level=logging.ERROR, configure_logging=False)
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        raise EngineError(f"engine: Ray could not be started or reached: {error}") from error


def _check_address(address: str) -> None:
    """Raise EngineError where nothing answers at host and port; Ray itself tries for minutes."""
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
    """What Ray raises, as errors of this library."""
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
    """A worker's process: its shard, and what learns from it."""

    def __init__(self, shard: Shard) -> None:
        self._shard: Shard | None = shard
        self._worker: ShardWorker | None = None
        self._changed: RunState | None = None

    def process(self) -> tuple[str, int]:
        """Where it runs."""
        return socket.gethostname(), os.getpid()

    def learn(self, piece: Piece, given: RunState | None, step: Step | None) -> ShardCounts:
        """See ShardWorker; what was changed is kept here."""
        if self._shard is not None:
            self._worker, self._shard = ShardWorker(self._shard), None
        if self._worker is None:
            raise EngineError("engine: a worker has no shard")
        counts, self._changed = self._worker.learn(piece, given, step)
        return counts

    def changed(self) -> RunState | None:
        """What the last piece changed."""
        return self._changed

    def weighted(self, share: float, words: int, begun: int) -> Change | None:
        """What it adds to the mix."""
        return None if self._changed is None else weighted(self._changed, share, words, begun)

    def plus(self, one: Change, other: Change) -> Change:
        """See shardchanges.plus."""
        return plus(one, other)


class RayCrew:
    """See shardtraining.Crew.

    Parameters
    ----------
    processes : where host and process number of each worker are put
    shards : one for each worker
    """

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
        self, piece: Piece, state: RunState, step: Step | None, anew: bool
    ) -> list[ShardCounts]:
        """See shardtraining.Crew."""
        with typed():
            self._piece = (piece, state, None if step is None else ray.put(step))
            self._state = None
            self._deaths = [0] * len(self._shards)
            asked = [self._ask(k, anew) for k in range(len(self._actors))]
            return [self._answer(k, ref) for k, ref in enumerate(asked)]

    def _ask(self, k: int, anew: bool) -> Any:
        """Have a worker learn the piece at hand."""
        if self._piece is None:
            raise EngineError("engine: there is no piece to learn")
        piece, state, step = self._piece
        if anew and self._state is None:
            self._state = ray.put(state)
        return self._actors[k].learn.remote(
            piece, self._state if anew else None, None if anew else step
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
        """A new worker in place of one that died, if it did not die too often."""
        self._deaths[k] += 1
        if self._deaths[k] > RESTARTS:
            last = str(error).strip().splitlines()[-1:]
            raise EngineError(
                f"engine: the worker of shard {k + 1} died {self._deaths[k]} times while it learnt"
                " one piece; it may need more memory than there is where it runs: give more"
                f" workers, or larger machines ({''.join(last)})"
            ) from None
        logger.warning("the worker of shard %d died and is started again", k + 1)
        self._kill(self._actors[k])
        self._actors[k] = self._make.remote(self._shards[k])

    def _retried(self, action: Callable[[], Done]) -> Done:
        """What comes of something that all workers are needed for."""
        while True:
            try:
                return action()
            except _LOST as error:
                self._recover(error)

    def _recover(self, error: Exception) -> None:
        """Start those that died again, and have them learn the piece at hand again."""
        dead = []
        for k, actor in enumerate(self._actors):
            try:
                ray.get(actor.process.remote())
            except _LOST:
                dead.append(k)
        # Where all are there, something that one had sent is lost: that counts as its death.
        for k in dead or range(len(self._actors)):
            self._restart(k, error)
            if self._piece is not None:
                self._answer(k, self._ask(k, True))

    def only(self) -> RunState:
        """See shardtraining.Crew."""
        with typed():
            changed: RunState = self._retried(lambda: ray.get(self._actors[0].changed.remote()))
            return changed

    def mixed(self, shares: Sequence[float], words: int, begun: int) -> Change:
        """See shardtraining.Crew."""

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
        """See shardtraining.Crew."""
        for actor in self._actors:
            self._kill(actor)
        self._actors, self._shards, self._piece, self._state = [], [], None, None

    def _kill(self, actor: Any) -> None:
        with contextlib.suppress(exceptions.RayError):
            ray.kill(actor)
