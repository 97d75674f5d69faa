"""The perceptron family as the textbooks have it: L1 to L12 over the orders O1 to O6.

Plain NumPy, each piece a few lines, to be read beside the pseudocode of its source. It is the
oracle that the fast classifier is tested against, and a teacher; it is not fast.

The sources: T. H. Nguyen, "Averaged perceptron note" (CIS 472/572); B. K. Jenkins, "Machine
learning I: supervised methods", perceptron lecture; R. Johansson, "Machine learning for NLP, bonus
lecture: the averaged perceptron" (2015); M. Kuhlmann, "The perceptron learning algorithm"; L.
Huang, "Voted and averaged perceptron".

>>> import numpy as np
>>> run = train(Binary(), np.array([[1, 1], [1, -1]]), [1, -1])
>>> run.w, run.updates, str(run.halted_by)
(array([0, 2]), 2, 'no update in the last N iterations')
>>> run.average()
array([0.25, 1.75])
"""

from __future__ import annotations

from perceptron_nlp.perceptrons.textbook.averaging import (
    averaged_by_updates,
    averaged_countdown,
    averaged_counter,
    averaged_improved,
    averaged_lazy,
    averaged_naive,
    counter_from_one,
    distinct,
    mean_before_each,
    unnormalized,
)
from perceptron_nlp.perceptrons.textbook.learners import (
    Binary,
    MaximalValue,
    Multiclass,
    binary_criterion,
    binary_gradient,
    multiclass_criterion,
    multiclass_gradient,
)
from perceptron_nlp.perceptrons.textbook.orders import (
    Batch,
    Halt,
    Minibatch,
    MinibatchRandom,
    Order,
    Replacement,
    Sequential,
    Stochastic,
)
from perceptron_nlp.perceptrons.textbook.stream import Delta, Step, Stream
from perceptron_nlp.perceptrons.textbook.training import (
    Learner,
    Run,
    all_equal,
    augment,
    random_in,
    train,
    voted_improved,
    voted_naive,
    zeros,
)

__all__ = [
    "Batch",
    "Binary",
    "Delta",
    "Halt",
    "Learner",
    "MaximalValue",
    "Minibatch",
    "MinibatchRandom",
    "Multiclass",
    "Order",
    "Replacement",
    "Run",
    "Sequential",
    "Step",
    "Stochastic",
    "Stream",
    "all_equal",
    "augment",
    "averaged_by_updates",
    "averaged_countdown",
    "averaged_counter",
    "averaged_improved",
    "averaged_lazy",
    "averaged_naive",
    "binary_criterion",
    "binary_gradient",
    "counter_from_one",
    "distinct",
    "mean_before_each",
    "multiclass_criterion",
    "multiclass_gradient",
    "random_in",
    "train",
    "unnormalized",
    "voted_improved",
    "voted_naive",
    "zeros",
]
