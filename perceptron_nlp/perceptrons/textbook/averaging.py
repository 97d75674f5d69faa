"""L7 to L12: six ways to the mean of the weights after each example.

All read the stream of a learner's steps, and each keeps the weights in its own way;
``step.delta`` is the update at that step, if there was one. They return the same vector,

    w̄ = (w_1 + … + w_N) / N,

exactly in exact numbers. A batch step counts as often as it has examples. Johansson writes the
update as y·x and Kuhlmann as ∓x on two rows; here it is Δ.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from perceptron_nlp.perceptrons.textbook.stream import Array, Stream, divided


def averaged_naive(run: Stream) -> Array:
    """L7: add up the weights after every example. O(d) an example.

    Sources: Johansson, "Averaged perceptron pseudocode (naive)"; Huang, the running sum.
    ::

        for (x_i, y_i) in training set T
            if mistake:  w_{t+1} = w_t + y_i·x_i    else  w_{t+1} = w_t
            w_s ← w_s + w
        return w_s / N
    """
    w = run.start.copy()
    w_s = np.zeros_like(w)
    for step in run.steps:
        if step.delta:
            step.delta.add_to(w)
        w_s += step.examples * w
    return np.asarray(divided(w_s, run.N))


def distinct(run: Stream) -> list[tuple[Array, int]]:
    """Each different vector once, with its votes: for how many examples it stood.

    The votes sum to N. The start has votes only where the first examples were right.

    Source: Huang, the improved voted perceptron.
    ::

        if mistake:  keep (w, v);  w ← w + Δ;  v ← 0
        v ← v + 1
    """
    w, v = run.start.copy(), 0
    kept = []
    for step in run.steps:
        if step.delta:
            if v:
                kept.append((w.copy(), v))
            step.delta.add_to(w)
            v = 0
        v += step.examples
    return [*kept, (w, v)]


def averaged_improved(run: Stream) -> Array:
    """L8: Σ v_i w_i / N over the distinct vectors. O(d) an update, in space too.

    Source: Huang, "w_s = Σ w^(i) · v_i".
    """
    w_s = np.zeros_like(run.start)
    for w, v in distinct(run):
        w_s += v * w
    return np.asarray(divided(w_s, run.N))


def averaged_by_updates(run: Stream) -> Array:
    """L9: Σ (N-t+1) Δ_t / N, from the updates alone; the start counts N times.

    Sources: Huang, "w_s = 4Δ⁽¹⁾ + 3Δ⁽²⁾ + 2Δ⁽³⁾ + 1Δ⁽⁴⁾"; Johansson, "An observation".
    """
    N = run.N
    w_s = N * run.start
    for t, delta in run.deltas:
        delta.add_to(w_s, N - t + 1)
    return np.asarray(divided(w_s, N))


def averaged_countdown(run: Stream) -> Array:
    """L10: each update is added with the share of the time that is left. Needs N first.

    Source: Johansson, "Better averaged perceptron".
    ::

        step = N·|T|
        for (x_i, y_i) in training set T
            if mistake:  a = a + step/(N·|T|) · y_i·x_i
            step = step - 1
        return a
    """
    N = left = run.N
    exact = run.start.dtype == object
    a = run.start.astype(object if exact else np.float64)
    for step in run.steps:
        if step.delta:
            step.delta.add_to(a, Fraction(left, N) if exact else left / N)
        left -= step.examples
    return a


def averaged_counter(run: Stream) -> Array:
    """L11: a second vector keeps what to take away at the end. O(d_Δ) an update.

    Sources: Huang, the fastest averaged perceptron (Daumé 2006); Nguyen, Algorithm 1,
    and Kuhlmann, whose counters start at 1 (see ``variants``).
    ::

        c ← 0
        for (x, y) in D
            if mistake:  w ← w + Δ;  w_a ← w_a + c·Δ
            c ← c + 1
        return w - w_a / c
    """
    return _counted(run, 0)


def _counted(run: Stream, c: int) -> Array:
    w, w_a = run.start.copy(), np.zeros_like(run.start)
    for step in run.steps:
        if step.delta:
            step.delta.add_to(w)
            step.delta.add_to(w_a, c)
        c += step.examples
    return np.asarray(w - divided(w_a, c))


def averaged_lazy(run: Stream) -> Array:
    """L12: every weight knows when it was last settled. O(d_Δ) an update.

    Here for one weight at a time; the library's own core has one stamp for a row of weights.
    ::

        if mistake:  for each weight j that Δ touches
                         sum_j ← sum_j + (t - stamp_j)·w_j;  stamp_j ← t
                         w_j ← w_j + Δ_j
        at the end:  sum_j ← sum_j + (N - stamp_j)·w_j for all j;  return sum / N

    where t counts the examples before this one.
    """
    w = run.start.copy()
    flat = w.reshape(-1)
    total, stamp = np.zeros_like(flat), np.zeros(flat.shape, dtype=np.int64)
    for step in run.steps:
        if step.delta:
            j, t = step.delta.index, step.t - 1
            total[j] += (t - stamp[j]) * flat[j]
            stamp[j] = t
            step.delta.add_to(w)
    total += (run.N - stamp) * flat
    return np.asarray(divided(total.reshape(w.shape), run.N))


# What three of the texts compute instead: the directions are the same or nearly so, the lengths are
# not. The library uses none of these.


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
    return _counted(run, 1)


def mean_before_each(run: Stream) -> Array:
    """(w_0 + … + w_{N-1}) / N: the mean before each example, without the last update.

    Source: Nguyen, the proof: S = Σ c⁽ᵏ⁾ w⁽ᵏ⁾ (eq. 1) with c⁽ᵏ⁾ = (i_{k+1} - i_k) / N (eq. 2),
    where i_k is the example of the k-th update, i_0 = 0 and i_{K+1} = N. The vector w⁽ᵏ⁾ judges the
    examples i_k + 1 … i_{k+1}: the proof counts judgments, the algorithm counts vectors after
    examples.
    """
    ends = [step.t + step.examples - 1 for step in run.steps if step.delta]
    i = [0, *ends, run.N]
    w, S = run.start.copy(), i[1] * run.start
    for k, (_, delta) in enumerate(run.deltas, start=1):
        delta.add_to(w)
        S += (i[k + 1] - i[k]) * w
    return np.asarray(divided(S, run.N))


def unnormalized(run: Stream) -> Array:
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
