"""When training ends, and which condition ended it.

Source: Jenkins' lecture, the stopping lines of each algorithm and its "Notes –
perceptron GD", note 1. An *update* is an iteration at which the learner's condition
held, whatever it then added.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from perceptron_nlp.perceptrons.schedule import Rate
from perceptron_nlp.perceptrons.textbook.stream import Array, Step


class Halt(StrEnum):
    """What ended the training."""

    NO_UPDATE = "no update in the last N iterations"
    NO_CHANGE = "no change over an epoch"
    ZERO_SUM = "batch sum is zero"
    SMALL_NORM = "norm below tol"
    EPOCH_LIMIT = "epoch limit"


@dataclass
class Progress:
    """What training has done so far, as the halting conditions see it.

    Attributes
    ----------
    n : number of training examples, Jenkins' N
    w : the weights now
    w_before : the weights when the epoch began, copied
    steps : the iterations so far
    quiet : iterations since the last update
    mistakes : mistakes of each epoch so far
    epoch_ended : whether the last step was the last of its epoch
    """

    n: int
    w: Array
    w_before: Array
    steps: list[Step] = field(default_factory=list)
    quiet: int = 0
    mistakes: list[int] = field(default_factory=list)
    epoch_ended: bool = False


def no_update_in_the_last_n(seen: Progress) -> Halt | None:
    """O1: N iterations in a row without an update; they may lie across two epochs."""
    return Halt.NO_UPDATE if seen.quiet >= seen.n else None


def no_change_over_an_epoch(seen: Progress) -> Halt | None:
    """O2: an epoch, from its shuffle to its end, without an update."""
    return Halt.NO_CHANGE if seen.epoch_ended and not seen.mistakes[-1] else None


def batch_sum_is_zero(seen: Progress) -> Halt | None:
    """O4: Σ [w·zx ≤ 0] zx = 0, by no mistake or by mistakes that cancel out."""
    return None if seen.steps[-1].delta else Halt.ZERO_SUM


def norm_below(seen: Progress, tol: Rate) -> Halt | None:
    """O3, O5, O6: ‖w after the epoch - w before it‖ < tol. With tol = 0, never."""
    if not seen.epoch_ended:
        return None
    accumulated = (seen.w - seen.w_before).reshape(-1)
    return Halt.SMALL_NORM if accumulated @ accumulated < tol * tol else None
