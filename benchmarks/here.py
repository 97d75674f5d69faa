"""An engine whose workers are in this process, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from perceptron_nlp.combine.mix import Change, Step, plus, tree, weighted
from perceptron_nlp.integrations.shard_training import (
    Piece,
    Round,
    Shard,
    ShardCounts,
    Sharding,
    ShardMixer,
    ShardWorker,
)
from perceptron_nlp.integrations.shards import reader_of
from perceptron_nlp.tagger.model.state import RunState
from perceptron_nlp.tagger.train.loop import Task


class LocalPool:
    """Workers in this process, which learn one after the other."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self._workers = [ShardWorker(shard) for shard in shards]
        self._changed: list[RunState] = []

    def learn(
        self, piece: Piece, state: RunState, step: Step | None, fresh: bool
    ) -> list[ShardCounts]:
        """See WorkerPool."""
        found = [worker.learn(piece, state if fresh else None, step) for worker in self._workers]
        self._changed = [changed for _, changed in found]
        return [counts for counts, _ in found]

    def only(self) -> RunState:
        """See WorkerPool."""
        return self._changed[0]

    def mixed(self, shares: Sequence[float], words: int, begun: int) -> Change:
        """See WorkerPool."""
        return tree(
            [
                weighted(changed, share, words, begun)
                for changed, share in zip(self._changed, shares, strict=True)
            ],
            plus,
        )

    def close(self) -> None:
        """See WorkerPool."""
        self._changed = []


class Here:
    """Shards in this process: the same bytes as on an engine."""

    def __init__(self, workers: int, *, read_by: str = "program", **more: Any) -> None:
        self.read = reader_of(read_by)
        self.rounds: list[Round] = []
        self.sharding = Sharding(workers=workers, **more)

    def mixer(self, task: Task) -> ShardMixer:
        """See loop.Engine."""
        return ShardMixer(self.sharding, LocalPool, self.rounds, task)
