"""A classifier's training as one thing: state, votes, classes and samples, all or nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp._core.train.vectors import Rows
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.perceptrons.epochs import Outcome, train_epochs
from perceptron_nlp.perceptrons.options import Options
from perceptron_nlp.perceptrons.samples import Samples
from perceptron_nlp.perceptrons.starts import start_weights
from perceptron_nlp.perceptrons.training_state import TrainingState
from perceptron_nlp.perceptrons.voting import VotedUpdates, check_memory

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Training:
    """What one or more fits have come to; a further fit makes a new one and leaves this be.

    Attributes
    ----------
    samples : how X is read
    classes : the labels in order
    state : weights and their time
    votes : the updates, where they are kept
    """

    samples: Samples
    classes: NDArray[Any]
    state: TrainingState
    votes: VotedUpdates | None

    @classmethod
    def begin(
        cls, samples: Samples, classes: NDArray[Any], width: int, init: Any, options: Options
    ) -> Training:
        """Before the first example; `width` is the number of features.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            when `init` does not fit
        """
        numbers = _is_number(init) or (isinstance(init, str) and init == "zeros")
        if samples.index is not None and not numbers:
            raise ArgumentError("init must be a number where X holds feature dictionaries")
        vectors = 1 if len(classes) == 2 else len(classes)
        weights, bias = start_weights(
            init, vectors, width, options.seed, intercept=options.fit_intercept
        )
        state = TrainingState(weights, bias, options.average)
        votes = None
        if options.voted:
            votes = VotedUpdates(weights.copy(), bias.copy(), options.fit_intercept)
        return cls(samples, classes, state, votes)

    def resumed(self, width: int, init: Any, options: Options) -> Training:
        """A copy to train on, with room for `width` features.

        Raises
        ------
        ArgumentError
            when `average`, `voted` or `fit_intercept` are not what training began with
        """
        if self.state.averaged != options.average or (self.votes is not None) != options.voted:
            raise ArgumentError(
                "average and voted cannot change once training has begun; "
                "fit anew, with warm_start=False"
            )
        weight = float(init) if _is_number(init) else 0.0
        state = self.state.resumed(width, weight)
        votes = None if self.votes is None else self.votes.widened(width, weight)
        return replace(self, samples=replace(self.samples), state=state, votes=votes)

    def run(
        self, rows: Rows, ids: NDArray[np.int32], rates: Floats, options: Options, epochs: int
    ) -> Outcome:
        """Train on rows of the classes `ids`, in place.

        Raises
        ------
        MemoryLimitError
            before it begins, when the votes could need more than the limit
        ArgumentError, ArgumentTypeError
            see `train_epochs`
        """
        if self.votes is not None:
            check_memory(rows, epochs, options.memory_limit, self.votes.nbytes)
        outcome = train_epochs(rows, ids, rates, options, self.state, epochs)
        if self.votes is not None:
            self.votes.add(rows, ids, outcome.log, self.state.seen)
        self.samples.width = rows.width
        return outcome


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
