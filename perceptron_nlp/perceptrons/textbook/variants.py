"""What three of the texts compute instead of the mean after each example.

Directions are the same or nearly so, lengths are not; the library uses none of these.
"""

from __future__ import annotations

import numpy as np

from perceptron_nlp.perceptrons.textbook.stream import Array, Stream, divided


def counter_from_one(run: Stream) -> Array:
    """(w_0 + w_1 + … + w_N) / (N+1): the start counts as one more vector.

    Sources: Nguyen, Algorithm 1, lines 4 to 16; Kuhlmann, "The averaged perceptron
    learning algorithm". Their counter starts at 1, so it ends at N + 1.
    ::

        c ← 1
        for (x, y) ∈ D do
            if mistake:  w ← w + Δ;  u ← u + c·Δ
            c ← c + 1
        return w - u / c
    """
    w, u, c = run.start.copy(), np.zeros_like(run.start), 1
    for step in run.steps:
        if step.delta:
            step.delta.add_to(w)
            step.delta.add_to(u, c)
        c += step.examples
    return np.asarray(w - divided(u, c))


def mean_before_each(run: Stream) -> Array:
    """(w_0 + … + w_{N-1}) / N: the mean before each example, without the last update.

    Source: Nguyen, the proof: S = Σ c⁽ᵏ⁾ w⁽ᵏ⁾ (eq. 1) with c⁽ᵏ⁾ = (i_{k+1} - i_k) / N
    (eq. 2), where i_k is the example of the k-th update, i_0 = 0 and i_{K+1} = N. The
    vector w⁽ᵏ⁾ judges the examples i_k + 1 … i_{k+1}: the proof counts judgements, the
    algorithm counts vectors after examples.
    """
    ends = [step.t + step.examples - 1 for step in run.steps if step.delta]
    i = [0, *ends, run.N]
    w, S = run.start.copy(), i[1] * run.start
    for k, (_, delta) in enumerate(run.deltas, start=1):
        delta.add_to(w)
        S += (i[k + 1] - i[k]) * w
    return np.asarray(divided(S, run.N))


def unnormalised(run: Stream) -> Array:
    """w_1 + … + w_N: the direction of the mean, not its length.

    Source: Huang, "w_s = c·w - w_a", with the counter from 0.
    """
    w, w_a, c = run.start.copy(), np.zeros_like(run.start), 0
    for step in run.steps:
        if step.delta:
            step.delta.add_to(w)
            step.delta.add_to(w_a, c)
        c += step.examples
    return np.asarray(c * w - w_a)
