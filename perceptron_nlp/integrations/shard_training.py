"""Training on shards of the text, whichever engine runs the workers: pieces of epochs, and mixes.

Each worker learns from its shard, a piece of an epoch at a time; the mixer puts the mix of the
workers' changes into the weights of the trainer, which scores epochs and keeps the best as in
ordinary training. An engine brings a WorkerPool, which starts a worker for each shard.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from perceptron_nlp._checks import check_choice, check_int, check_version
from perceptron_nlp._core.table.weights import WeightTable
from perceptron_nlp._version import __version__
from perceptron_nlp.combine.mix import (
    Added,
    Change,
    Replaced,
    Step,
    changes,
    difference,
    no_state,
    shares_of,
    state_bytes,
)
from perceptron_nlp.errors import ArgumentError, EngineError
from perceptron_nlp.features.templates import Template, compile_templates
from perceptron_nlp.integrations.shards import ShardFiles, as_numbers, make_shards
from perceptron_nlp.sampling import permutation
from perceptron_nlp.tagger.model.state import RunState
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.learners import Counts, TemplateLearner
from perceptron_nlp.tagger.train.loop import Task
from perceptron_nlp.tagger.train.options import LearningOptions

if sys.platform != "win32":
    import resource


@dataclass(frozen=True, slots=True, eq=False)
class Shard:
    """Everything that a worker needs to learn from its sentences.

    Attributes
    ----------
    examples : the sentences, as numbers; or their files
    templates : their features
    forced : words that get one label without being scored
    version : of this library in the program that began the training
    """

    examples: Examples | ShardFiles
    templates: tuple[Template, ...]
    options: LearningOptions
    forced: Mapping[str, str]
    version: str = __version__


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an epoch, between two mixes.

    Attributes
    ----------
    number : mixes before it, which tells the state that it begins at
    seed, epoch : they decide the order of a shard's sentences
    part, parts : its number, from 0, and the number of equal parts of the epoch
    alone : True if there is one shard only
    """

    number: int
    seed: int
    epoch: int
    part: int
    parts: int
    alone: bool


@dataclass(frozen=True, slots=True)
class ShardCounts:
    """Counts of learning from a shard: tokens, mistakes, updates, and the time it took.

    `seconds` is processor time, `elapsed` is by the clock; `bytes_sent` is the size of the shard's
    changes, `peak_memory` the most bytes that the process has had (0: not known).
    """

    examples: int
    mistakes: int
    updates: int
    seconds: float
    elapsed: float
    bytes_sent: int
    peak_memory: int


def _peak_memory() -> int:
    if sys.platform == "win32":
        return 0
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else used * 1024


class ShardWorker:
    """Learns from one shard, a piece of an epoch at a time, each from a state that is mixed.

    Raises EngineError if the library is of another version here than where the training was begun;
    FileError if files that it is to read are missing here, or differ from those there.
    """

    def __init__(self, shard: Shard) -> None:
        check_version(shard.version)
        examples = shard.examples
        if isinstance(examples, ShardFiles):
            examples = as_numbers(examples.read(), compile_templates(shard.templates).columns)
        self._n_sentences = len(examples.sentences)
        self._learner = TemplateLearner(
            examples, shard.templates, shard.options, dict(shard.forced)
        )
        self._state = no_state(shard.options.update == "adagrad")
        self._number = 0

    def learn(
        self, piece: Piece, given: RunState | None, step: Step | None
    ) -> tuple[ShardCounts, RunState]:
        """Learn a piece, and return its counts and the changes; the same if called again.

        It begins at the state that is given, or at the one that `step` leads to from the state
        before. Raises EngineError if the worker cannot reach the state by itself.
        """
        begun_at, cpu = time.monotonic(), time.process_time()
        self._reach(piece.number, given, step)
        self._learner.begin_at(self._state)
        order = permutation(self._n_sentences, piece.seed, piece.epoch)
        first, last = (len(order) * part // piece.parts for part in (piece.part, piece.part + 1))
        examples, mistakes, updates = self._learner.learn(order[first:last])
        after = RunState.of(self._learner.table, piece.epoch)
        changed = (changes if piece.alone else difference)(after, self._state)
        return ShardCounts(
            examples,
            mistakes,
            updates,
            time.process_time() - cpu,
            time.monotonic() - begun_at,
            state_bytes(changed),
            _peak_memory(),
        ), changed

    def _reach(self, number: int, given: RunState | None, step: Step | None) -> None:
        if given is not None:
            self._state, self._number = given, number
        elif self._number == number - 1 and step is not None:
            self._state, self._number = step.applied(self._state), number
        if self._number != number:
            raise EngineError(
                f"engine: a worker is at mix {self._number}, and was asked to go on"
                f" from mix {number}"
            )


logger = logging.getLogger("perceptron_nlp")

MOST_WORKERS = 10_000
MIX_BY = ("errors", "examples")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharding:
    """Numbers of shards and mixes.

    Attributes
    ----------
    workers : 1 to 10,000; shards, one a worker. The model depends on it
    mix_by : a shard's share in a mix is in proportion to its ``"errors"``, the tokens that it
        labeled wrong, or to its ``"examples"``, the tokens
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
        """Return the entry of the model's training record."""
        return {"workers": self.workers, "mix_by": self.mix_by, "mixes": self.mixes}


class WorkerPool(Protocol):
    """The workers of a training, one a shard."""

    def learn(
        self, piece: Piece, state: RunState, step: Step | None, fresh: bool
    ) -> list[ShardCounts]:
        """Have all workers learn a piece that begins at a state; return the counts of each shard.

        `step` leads there from the state before; `fresh` is True if no worker is at that.
        """

    def only(self) -> RunState:
        """Return the changes of the only worker in its last piece."""

    def mixed(self, shares: Sequence[float], words: int, begun: int) -> Change:
        """Return the sum of the changes of all workers in their last piece; see combine.mix."""

    def close(self) -> None:
        """End the workers."""


@dataclass(frozen=True, slots=True)
class Round:
    """The cost of one piece of a training: counts of each shard, bytes of the mix and the state."""

    counts: tuple[ShardCounts, ...]
    bytes_mixed: int
    bytes_state: int


@dataclass(eq=False)
class ShardMixer:
    """Learns epochs with a pool of workers, and mixes their weights. See loop.Mixer.

    The cost of each piece is added to `rounds`. Raises ArgumentError if the task cannot be learned
    in so many shards.
    """

    sharding: Sharding
    make_pool: Callable[[Sequence[Shard]], WorkerPool]
    rounds: list[Round]
    task: Task

    def __post_init__(self) -> None:
        self._pool: WorkerPool | None = None
        self._table: WeightTable | None = None
        self._state: RunState | None = None
        self._step: Step | None = None
        self._number = 0
        n_sentences, min_count = len(self.task.examples.sentences), self.task.options.min_count
        workers = self.sharding.workers
        if workers > n_sentences:
            raise ArgumentError(
                f"workers: {workers:,} are more than there are sentences to learn from"
                f" ({n_sentences:,}); give {n_sentences:,} at most"
            )
        if workers > 1 and min_count > 1:
            raise ArgumentError(
                f"min_count: {min_count} with {workers} workers: none of"
                " them sees how often a feature is in the whole text; leave min_count out, or give"
                " workers=1"
            )

    def learn(self, table: WeightTable, seed: int, epoch: int) -> Counts:
        """See loop.Mixer."""
        if self._pool is None:
            self._pool = self._started()
        if table is not self._table or (self._state and table.done != self._state.done):
            # Another run, or one that continues from a checkpoint.
            self._table, self._state, self._step, self._number = table, None, None, 0
        fresh = self._state is None
        state = RunState.of(table, epoch - 1) if self._state is None else self._state
        total = np.zeros(3, np.int64)
        for part in range(self.sharding.mixes):
            piece = Piece(
                self._number, seed, epoch, part, self.sharding.mixes, self.sharding.workers == 1
            )
            counts = self._pool.learn(piece, state, self._step, fresh)
            fresh = False
            total += np.sum([(c.examples, c.mistakes, c.updates) for c in counts], axis=0)
            self._step = self._mixed(self._pool, counts, state, epoch)
            self._number += 1
            self.rounds.append(Round(tuple(counts), self._step.nbytes, state_bytes(state)))
            state = self._step.applied(state)
        self._state = state
        table.clear()
        state.put_into(table)
        examples, mistakes, updates = total.tolist()
        return examples, mistakes, updates

    def _started(self) -> WorkerPool:
        task = self.task
        shards = make_shards(task.examples, self.sharding.workers, task.templates)
        return self.make_pool(
            [Shard(part, task.templates, task.options, task.forced) for part in shards]
        )

    def _mixed(
        self, pool: WorkerPool, counts: Sequence[ShardCounts], state: RunState, epoch: int
    ) -> Step:
        if self.sharding.workers == 1:
            return Replaced(pool.only())
        examples = [count.examples for count in counts]
        shares = shares_of(examples, [count.mistakes for count in counts], self.sharding.mix_by)
        words = sum(examples)
        return Added(pool.mixed(shares, words, state.done), words, epoch)

    def record(self) -> dict[str, Any]:
        """See loop.Mixer."""
        # One shard is learned from as in ordinary training.
        return {} if self.sharding.workers == 1 else {"sharding": self.sharding.record()}

    def close(self) -> None:
        """See loop.Mixer."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None
