"""Training on shards of the text, whichever engine runs the workers: rounds of learning and mixing.

An engine brings a Crew, which starts a worker for each shard, has them learn, and mixes what they
changed. Here is what comes before and after: the text is dealt out, epochs are scored, and the best
is kept, as in ordinary training, by the trainer that does that.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from perceptron_nlp._checks import check_choice, check_int
from perceptron_nlp._core.model.frozenweights import FrozenWeights
from perceptron_nlp._core.table.weights import WeightTable
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.integrations.shardchanges import (
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
from perceptron_nlp.integrations.shards import Counts, Piece, Shard, ShardWorker, deal
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.model.state import RunState
from perceptron_nlp.tagger.train.checkpoint import Checkpoint, CheckpointOptions
from perceptron_nlp.tagger.train.interrupts import Interrupts
from perceptron_nlp.tagger.train.learners import Learner, n_learnt, weight_table
from perceptron_nlp.tagger.train.loop import Callback, Trainer
from perceptron_nlp.tagger.train.options import TrainingOptions
from perceptron_nlp.tagger.train.progress import Progress

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

    def learn(self, piece: Piece, state: RunState, step: Step | None, anew: bool) -> list[Counts]:
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

    counts: tuple[Counts, ...]
    bytes_mixed: int
    bytes_state: int


class ShardedLearner:
    """Learns an epoch with a crew. See learners.Learner.

    Parameters
    ----------
    crew : the workers
    n_labels : of a table
    sharding, options : how to learn
    rounds : where what each piece took is added
    """

    def __init__(
        self,
        crew: Crew,
        n_labels: int,
        sharding: Sharding,
        options: TrainingOptions,
        rounds: list[Round],
    ) -> None:
        self.table: WeightTable = weight_table(n_labels, options)
        self._crew = crew
        self._sharding = sharding
        self._state: RunState | None = None
        self._step: Step | None = None
        self._number = 0
        self._rounds = rounds

    def learn_epoch(self, seed: int, epoch: int) -> tuple[int, int, int]:
        """Go over all shards; (labelled words seen, wrongly labelled, updates)."""
        # The table may have come from a checkpoint.
        anew = self._state is None
        state = RunState.of(self.table, epoch - 1) if self._state is None else self._state
        total = np.zeros(3, np.int64)
        for part in range(self._sharding.mixes):
            piece = Piece(
                self._number, seed, epoch, part, self._sharding.mixes, self._sharding.workers == 1
            )
            counts = self._crew.learn(piece, state, self._step, anew)
            anew = False
            total += np.sum([(c.examples, c.mistakes, c.updates) for c in counts], axis=0)
            self._step = self._mixed(counts, state, epoch)
            self._number += 1
            self._rounds.append(Round(tuple(counts), self._step.nbytes, state_bytes(state)))
            state = self._step.applied(state)
        self._state = state
        self.begin_at(state)
        examples, mistakes, updates = total.tolist()
        return examples, mistakes, updates

    def _mixed(self, counts: Sequence[Counts], state: RunState, epoch: int) -> Step:
        if self._sharding.workers == 1:
            return Replaced(self._crew.only())
        examples = [count.examples for count in counts]
        shares = shares_of(examples, [count.mistakes for count in counts], self._sharding.mix_by)
        words = sum(examples)
        return Added(self._crew.mixed(shares, words, state.done), words, epoch)

    def learn(self, order: npt.NDArray[np.int64]) -> tuple[int, int, int]:
        """Raises ArgumentError: shards know their own order."""
        raise ArgumentError("order: shards are learnt from by epochs")

    def begin_at(self, state: RunState) -> None:
        """Go on from a state, whatever was learnt before."""
        self.table.clear()
        state.put_into(self.table)

    def average(self) -> FrozenWeights:
        """See Learner."""
        return self.table.average()


class ShardedTrainer(Trainer):
    """A training run on shards.

    Parameters
    ----------
    sharding : how the text is dealt out and mixed
    make_crew : starts workers, one a shard
    rounds : where what each piece took is added
    what, how : those of Trainer
    """

    def __init__(
        self,
        sharding: Sharding,
        make_crew: Callable[[Sequence[Shard]], Crew],
        rounds: list[Round],
        *what: Any,
        **how: Any,
    ) -> None:
        super().__init__(*what, **how)
        self._sharding = sharding
        self._make_crew = make_crew
        self._rounds = rounds
        self._crew: Crew | None = None
        n_sentences = len(self._examples.sentences)
        if sharding.workers > n_sentences:
            raise ArgumentError(
                f"workers: {sharding.workers:,} are more than there are sentences to learn from"
                f" ({n_sentences:,}); give {n_sentences:,} at most"
            )
        if sharding.workers > 1 and self._options.min_count > 1:
            raise ArgumentError(
                f"min_count: {self._options.min_count} with {sharding.workers} workers: none of"
                " them sees how often a feature is in the whole text; leave min_count out, or give"
                " workers=1"
            )

    def run(self, callback: Callback | None, kept: CheckpointOptions | None = None) -> TaggerModel:
        """See Trainer."""
        try:
            return super().run(callback, kept)
        finally:
            if self._crew is not None:
                self._crew.close()
                self._crew = None

    def _make_learner(self, run: int) -> Learner:
        self._check_search()
        if self._crew is None:
            self._crew = self._make_crew(
                [
                    Shard(part, self._templates, self._features, self._options, self._forced)
                    for part in deal(
                        self._examples, self._sharding.workers, self._templates, self._features
                    )
                ]
            )
        return ShardedLearner(
            self._crew, n_learnt(self._examples), self._sharding, self._options, self._rounds
        )

    def _identity(self) -> dict[str, Any]:
        # One shard is learnt from as without an engine.
        more = {} if self._sharding.workers == 1 else {"sharding": self._sharding.record()}
        return {**super()._identity(), **more}

    def _learn_epoch(
        self,
        progress: Progress,
        learner: Learner,
        checkpoint: Checkpoint | None,
        interrupts: Interrupts,
    ) -> None:
        n_sentences = len(self._examples.sentences)
        if progress.position == n_sentences:
            return
        if progress.position or not isinstance(learner, ShardedLearner):
            raise ArgumentError(
                "checkpoint: it is of the middle of an epoch, where workers cannot"
                " begin; resume it without an engine"
            )
        seed = (self._options.seed + progress.run - 1) % 2**64
        counts = learner.learn_epoch(seed, self._epochs_before(progress.run) + progress.epoch)
        progress.add(n_sentences, counts)
        if checkpoint is not None:
            checkpoint.piece_done(progress, learner.table, interrupts)


class LocalCrew:
    """A crew in this process, whose workers learn one after the other."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self._workers = [ShardWorker(shard) for shard in shards]
        self._changed: list[RunState] = []

    def learn(self, piece: Piece, state: RunState, step: Step | None, anew: bool) -> list[Counts]:
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
