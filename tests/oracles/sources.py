"""The pseudocode of the texts, whole and line by line, from a zero start.

Written to lie beside the page: names, counters and loops are the source's own, and so are its
slips, which are named. Data are lists of pairs (x, y) in the order in which they are to be seen.
The tests hold these against the learners and averages that are built from parts.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from perceptron_nlp.perceptrons.textbook.schedule import Rate, Schedule, step_size
from perceptron_nlp.perceptrons.textbook.stream import Array, divided

Data = Sequence[tuple[Array, int]]


def nguyen_algorithm_1(D: Data, MaxIter: int) -> tuple[Array, Any]:
    """Nguyen, Algorithm 1, AveragedPerceptronTrain: w and b, divided by N + 1."""
    w, b = np.zeros_like(D[0][0]), D[0][0].dtype.type(0)  # line 2
    u, beta = w.copy(), b  # line 3
    c = 1  # line 4
    for _ in range(MaxIter):  # line 5
        for x, y in D:  # line 6
            if y * (w @ x + b) <= 0:  # line 7
                w = w + y * x  # line 8
                b = b + y  # line 9
                u = u + y * c * x  # line 10
                beta = beta + y * c  # line 11
            c = c + 1  # line 13
    return w - divided(u, c), b - divided(beta, c)  # line 16


def nguyen_proof(D: Data, MaxIter: int) -> Array:
    """Nguyen, eq. 8: S = (1/N) Σ_j y x (N - i_j), without a bias."""
    N = len(D) * MaxIter
    w = np.zeros_like(D[0][0])
    S = w.copy()
    for i, (x, y) in enumerate(list(D) * MaxIter, start=1):
        if y * (w @ x) <= 0:
            w = w + y * x
            S = S + (N - i) * (y * x)
    return np.asarray(divided(S, N))


def johansson_perceptron(
    T: Data, N: int, mistake: Callable[[Any, int], bool] = operator.le
) -> Array:
    """Johansson, "Perceptron pseudocode": the last w.

    `mistake` is the comparison with 0: ≤ on this slide and in the code. Two later slides
    print <, which from a zero start never updates: pass ``operator.lt`` to see it.
    """
    w = np.zeros_like(T[0][0])
    for _ in range(N):
        for x, y in T:
            score = y * (w @ x)
            if mistake(score, 0):
                w = w + y * x
    return w


def johansson_naive(T: Data, N: int, mistake: Callable[[Any, int], bool] = operator.le) -> Array:
    """Johansson, "Averaged perceptron pseudocode (naive)"; its slide prints <."""
    w = [np.zeros_like(T[0][0])]
    t = 0
    for _ in range(N):
        for x, y in T:
            score = y * (w[t] @ x)
            w.append(w[t] + y * x if mistake(score, 0) else w[t])
            t = t + 1
    return np.asarray(divided(np.sum(w[1:], axis=0), N * len(T)))


def johansson_better(T: Data, N: int, mistake: Callable[[Any, int], bool] = operator.le) -> Array:
    """Johansson, "Better averaged perceptron"; its slide prints <, its code ≤."""
    w = np.zeros_like(T[0][0])
    a = divided(w, 1)
    step = N * len(T)
    for _ in range(N):
        for x, y in T:
            score = y * (w @ x)
            if mistake(score, 0):
                w = w + y * x
                a = a + divided(step * (y * x), N * len(T))
            step = step - 1
    return np.asarray(a)


def kuhlmann_averaged(D: Data, epochs: int, classes: int) -> tuple[Array, Array]:
    """Kuhlmann, "The averaged perceptron learning algorithm": w[C, d] and b[C].

    `u` and `beta` are the vectors that the slide prints in red. Divides by N + 1.
    """
    d, kind = len(D[0][0]), D[0][0].dtype
    w, b = np.zeros((classes, d), dtype=kind), np.zeros(classes, dtype=kind)
    u, beta = w.copy(), b.copy()
    count = 1
    for _ in range(epochs):
        for x, y in D:
            p = int(np.argmax(w @ x + b))
            if p != y:
                w[p], b[p] = w[p] - x, b[p] - 1
                u[p], beta[p] = u[p] - count * x, beta[p] - count
                w[y], b[y] = w[y] + x, b[y] + 1
                u[y], beta[y] = u[y] + count * x, beta[y] + count
            count = count + 1
    return w - divided(u, count), b - divided(beta, count)


def jenkins_sequential(
    points: Data, w0: Array, eta: Schedule, b: Rate = 0, limit: int = 100_000
) -> list[Array]:
    """Jenkins, basic sequential GD: w(0), w(1), …, the last one ŵ.

    Stops when there was no update in the last N iterations, or after `limit` of them. The lecture's
    i starts at 0 and names the vector before the update; the rate is asked for i + 1.
    """
    w, N, quiet = [w0], len(points), 0
    for i in range(limit):
        x, z = points[i % N]
        if w[i] @ (z * x) <= b:
            w.append(w[i] + step_size(eta, i + 1) * (z * x))
            quiet = 0
        else:
            w.append(w[i])
            quiet += 1
        if quiet == N:
            break
    return w


def jenkins_multiclass(points: Data, classes: int, eta: Schedule, epochs: int) -> Array:
    """Jenkins, the multiclass perceptron by the maximal-value method: w[C, d].

    Until all training data points are correctly classified, or for so many epochs.
    """
    w = np.zeros((classes, len(points[0][0])), dtype=points[0][0].dtype)
    i = 1
    for _ in range(epochs):
        changed = False
        for x, k in points:
            g = [w_j @ x for w_j in w]
            if not all(g[k] > g[j] for j in range(classes) if j != k):
                rivals = [j for j in range(classes) if j != k]
                l = max(rivals, key=lambda j: g[j])  # noqa: E741
                w[k] = w[k] + step_size(eta, i) * x
                w[l] = w[l] - step_size(eta, i) * x
                changed = True
            i = i + 1
        if not changed:
            break
    return w


def huang_fastest(D: Data, T: int) -> tuple[Array, int]:
    """Huang, Daumé's trick: w_s = c·w - w_a and the number of examples c = T·|D|."""
    w = np.zeros_like(D[0][0])
    w_a = w.copy()
    c = 0
    for _ in range(T):
        for x, y in D:
            if y * (w @ x) <= 0:
                w = w + y * x
                w_a = w_a + c * (y * x)
            c = c + 1
    return c * w - w_a, c
