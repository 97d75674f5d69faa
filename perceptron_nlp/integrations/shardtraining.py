"""Training on shards of the text, whichever engine runs the workers: rounds of learning and mixing.

An engine brings a Crew, which starts a worker for each shard, has them learn, and mixes what they
changed. The mixer distributes the text, and puts the mix into the weights of the trainer, which
scores epochs and keeps the best as in ordinary training.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from perceptron_nlp._checks import check_choice, check_int
from perceptron_nlp._core.table.weights import WeightTable
from perceptron_nlp.combine.mix import (
    Added,
    Change,
    Replaced,
    Step,
    plus,
    shares_of,
    state_bytes,
    tree,
    weighted,
)
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.integrations.shards import Piece, Shard, ShardCounts, ShardWorker, deal
from perceptron_nlp.tagger.model.state import RunState
from perceptron_nlp.tagger.train.learners import Counts
from perceptron_nlp.tagger.train.loop import Task

logger = logging.getLogger("perceptron_nlp")

MOST_WORKERS = 10_000
MIX_BY = ("errors", "examples")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharding:
    """How a text is learnt from in shards.

    Attributes
    ----------
    workers : 1 to 10,000; shards, each of which a worker learns from. The model depends on it
    mix_by : what a shard's share in a mix is in proportion to: ``"errors"``, the words that it
        labelled wrong, or ``"examples"``, its words
    mixes : 1 to 1,000; mixes in an epoch
    """

    workers: int
    mix_by: str = "errors"
    mixes: int = 1

    def __post_init__(self) -> None:
        check_int("workers", self.workers, 1, MOST_WORKERS)
        check_choice("mix_by", self.mix_by, MIX_BY)
        check_int("mixes", self.mixes, 1, 1000)

    def record(self) -> dict[str, Any]:
        """As it goes into the model's training record."""
        return {"workers": self.workers, "mix_by": self.mix_by, "mixes": self.mixes}


class Crew(Protocol):
    """The workers of a training, one a shard."""

    def learn(
        self, piece: Piece, state: RunState, step: Step | None, anew: bool
    ) -> list[ShardCounts]:
        """Have all learn a piece; what that came to on each shard.

        Parameters
        ----------
        piece : the piece
        state : where it begins, for workers that are not at the state before
        step : what makes that state of the one before
        anew : no worker is at the state before
        """

    def only(self) -> RunState:
        """What the only worker changed in its last piece."""

    def mixed(self, shares: Sequence[float], words: int, begun: int) -> Change:
        """What all workers changed in their last piece, mixed as by shardchanges."""

    def close(self) -> None:
        """Dismiss the workers."""


@dataclass(frozen=True, slots=True)
class Round:
    """What one piece of a training took.

    Attributes
    ----------
    counts : for each shard
    bytes_mixed : what each worker is sent of the mix
    bytes_state : of the state that the piece began at, which each worker has
    """

    counts: tuple[ShardCounts, ...]
    bytes_mixed: int
    bytes_state: int


class ShardMixer:
    """Learns epochs with a crew, and mixes its weights. See loop.Mixer.

    Parameters
    ----------
    sharding : how the text is distributed and mixed
    make_crew : starts workers, one a shard
    rounds : where the cost of each piece is added
    task : what is learned

    Raises
    ------
    ArgumentError : the task cannot be learned in so many shards
    """

    def __init__(
        self,
        sharding: Sharding,
        make_crew: Callable[[Sequence[Shard]], Crew],
        rounds: list[Round],
        task: Task,
    ) -> None:
        self._sharding = sharding
        self._make_crew = make_crew
        self._rounds = rounds
        self._task = task
        self._crew: Crew | None = None
        self._table: WeightTable | None = None
        self._state: RunState | None = None
        self._step: Step | None = None
        self._number = 0
        n_sentences, min_count = len(task.examples.sentences), task.options.min_count
        if sharding.workers > n_sentences:
            raise ArgumentError(
                f"workers: {sharding.workers:,} are more than there are sentences to learn from"
                f" ({n_sentences:,}); give {n_sentences:,} at most"
            )
        if sharding.workers > 1 and min_count > 1:
            raise ArgumentError(
                f"min_count: {min_count} with {sharding.workers} workers: none of"
                " them sees how often a feature is in the whole text; leave min_count out, or give"
                " workers=1"
            )

    def learn(self, table: WeightTable, seed: int, epoch: int) -> Counts:
        """See loop.Mixer."""
        if self._crew is None:
            self._crew = self._started()
        if table is not self._table:
            # Another run, or one that goes on from a checkpoint.
            self._table, self._state, self._step, self._number = table, None, None, 0
        anew = self._state is None
        state = RunState.of(table, epoch - 1) if self._state is None else self._state
        total = np.zeros(3, np.int64)
        for part in range(self._sharding.mixes):
            piece = Piece(
                self._number, seed, epoch, part, self._sharding.mixes, self._sharding.workers == 1
            )
            counts = self._crew.learn(piece, state, self._step, anew)
            anew = False
            total += np.sum([(c.examples, c.mistakes, c.updates) for c in counts], axis=0)
            self._step = self._mixed(self._crew, counts, state, epoch)
            self._number += 1
            self._rounds.append(Round(tuple(counts), self._step.nbytes, state_bytes(state)))
            state = self._step.applied(state)
        self._state = state
        table.clear()
        state.put_into(table)
        examples, mistakes, updates = total.tolist()
        return examples, mistakes, updates

    def _started(self) -> Crew:
        task = self._task
        shards = deal(task.examples, self._sharding.workers, task.templates, task.features)
        return self._make_crew(
            [
                Shard(part, task.templates, task.features, task.options, task.forced)
                for part in shards
            ]
        )

    def _mixed(
        self, crew: Crew, counts: Sequence[ShardCounts], state: RunState, epoch: int
    ) -> Step:
        if self._sharding.workers == 1:
            return Replaced(crew.only())
        examples = [count.examples for count in counts]
        shares = shares_of(examples, [count.mistakes for count in counts], self._sharding.mix_by)
        words = sum(examples)
        return Added(crew.mixed(shares, words, state.done), words, epoch)

    def record(self) -> dict[str, Any]:
        """See loop.Mixer."""
        # One shard is learned from as without an engine.
        return {} if self._sharding.workers == 1 else {"sharding": self._sharding.record()}

    def close(self) -> None:
        """See loop.Mixer."""
        if self._crew is not None:
            self._crew.close()
            self._crew = None


class LocalCrew:
    """A crew in this process, whose workers learn one after the other."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self._workers = [ShardWorker(shard) for shard in shards]
        self._changed: list[RunState] = []

    def learn(
        self, piece: Piece, state: RunState, step: Step | None, anew: bool
    ) -> list[ShardCounts]:
        """See Crew."""
        found = [worker.learn(piece, state if anew else None, step) for worker in self._workers]
        self._changed = [changed for _, changed in found]
        return [counts for counts, _ in found]

    def only(self) -> RunState:
        """See Crew."""
        return self._changed[0]

    def mixed(self, shares: Sequence[float], words: int, begun: int) -> Change:
        """See Crew."""
        return tree(
            [
                weighted(changed, share, words, begun)
                for changed, share in zip(self._changed, shares, strict=True)
            ],
            plus,
        )

    def close(self) -> None:
        """See Crew."""
        self._changed = []
