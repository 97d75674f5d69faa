"""Seeded shuffles, draws and batches, the same on every machine and NumPy version.

The numbers come from SplitMix64 (G. L. Steele, D. Lea and C. H. Flood, "Fast splittable
pseudorandom number generators", OOPSLA 2014, figure 17): word j of the stream that starts at state
s is ``mix(s + (j + 1) * GAMMA)``. A word depends on its counter alone, so a whole array of them is
a few array operations.

What a seed gives is fixed forever: trained models depend on it, and the tests hold written-out
values. Words are chosen by integer arithmetic only, and by a stable sort, whose result does not
depend on the sorting algorithm.
"""

from __future__ import annotations

import operator

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, in_message, quote

IntArray = NDArray[np.int64]
WordArray = NDArray[np.uint64]

_WORD = (1 << 64) - 1
_GAMMA = 0x9E3779B97F4A7C15
_MIX_1 = 0xBF58476D1CE4E5B9
_MIX_2 = 0x94D049BB133111EB

# What a stream is used for is part of its state: a shuffle and a draw with the same
# seed and epoch share no word.
_PERMUTATION, _DRAWS, _SUBSET, _UNIFORM = 1, 2, 3, 4


def permutation(n: int, seed: int, epoch: int = 0) -> IntArray:
    """The numbers 0 … n-1 in the order that `seed` and `epoch` choose: int64[n].

    Each number gets a 64-bit key and the keys are sorted; equal keys, as good as impossible (n² /
    2⁶⁵), keep the lower number first. Raises ArgumentError, ArgumentTypeError if n < 0, or `seed`
    or `epoch` is outside 0 … 2⁶⁴-1, or one is no integer.

    >>> permutation(5, seed=0).tolist()
    [0, 1, 3, 2, 4]
    """
    n = _whole("n", n, low=0)
    return _shuffled(n, _state(seed, _PERMUTATION, _whole("epoch", epoch)))


def draws(n: int, size: int, seed: int, epoch: int = 0) -> IntArray:
    """`size` numbers out of 0 … n-1, drawn with replacement, each equally likely: int64[size].

    All epochs are one long sequence of draws: the result is its part from ``epoch * size`` to
    ``(epoch + 1) * size``. Raises ArgumentError, ArgumentTypeError if n < 1, size < 0, or `seed` or
    `epoch` is outside 0 … 2⁶⁴-1.
    """
    n = _whole("n", n, low=1, high=(1 << 63) - 1)
    size = _whole("size", size, low=0)
    return _below(n, size, _state(seed, _DRAWS), start=_whole("epoch", epoch) * size)


def without_replacement(n: int, m: int, seed: int, step: int = 0) -> IntArray:
    """`m` different numbers out of 0 … n-1, int64[m]; every choice and order is equally likely.

    A small choice costs O(m log m), whatever n. With m = 1 it is the draw with replacement of the
    same number: ``draws(n, 1, seed, step)``. Raises ArgumentError, ArgumentTypeError if m is not in
    1 … n, or `seed` or `step` is outside 0 … 2⁶⁴-1.
    """
    n = _whole("n", n, low=1, high=(1 << 63) - 1)
    m = _whole("m", m, low=1)
    step = _whole("step", step)
    if m > n:
        raise ArgumentError(f"m is {m}, but there are only n = {n} to choose from")
    state = _state(seed, _SUBSET, step)
    if 2 * m > n and m > 1:
        return _shuffled(n, state)[:m]
    first = draws(n, 1, seed, step)
    size = 2 * m + 16
    # A longer row of draws begins with the shorter one, so doubling changes nothing found.
    while True:
        row = np.concatenate([first, _below(n, size, state, start=0)])
        new = np.sort(np.unique(row, return_index=True)[1])
        if len(new) >= m:
            return row[new[:m]]
        size *= 2


def batches(order: IntArray, size: int) -> list[IntArray]:
    """`order` cut into ⌈len(order) / size⌉ parts of `size`; the last may be shorter.

    Raises ArgumentError, ArgumentTypeError if `size` is not in 1 … len(order).
    """
    size = _whole("size", size, low=1)
    if size > len(order):
        raise ArgumentError(f"size is {size}, but there are only {len(order)} examples")
    return [order[first : first + size] for first in range(0, len(order), size)]


def uniform(size: int, low: float, high: float, seed: int) -> NDArray[np.float64]:
    """`size` numbers (float64) from low to high (high itself only by rounding), for a random start.

    Raises ArgumentError, ArgumentTypeError if low > high, one is not finite, size < 0, or `seed` is
    outside 0 … 2⁶⁴-1.
    """
    if not (np.isfinite(low) and np.isfinite(high) and low <= high):
        raise ArgumentError(f"low and high must be finite, low <= high; got {low} and {high}")
    words = _words(_state(seed, _UNIFORM), 0, _whole("size", size, low=0))
    unit = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return low + unit * (high - low)


def _whole(name: str, value: int, low: int = 0, high: int = _WORD) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentTypeError(f"{name} must be an integer, got {quote(value)}") from None
    if not low <= number <= high:
        raise ArgumentError(f"{name} must be between {low} and {high}, got {in_message(number)}")
    return number


def _mix(z: int) -> int:
    z = ((z ^ (z >> 30)) * _MIX_1) & _WORD
    z = ((z ^ (z >> 27)) * _MIX_2) & _WORD
    return z ^ (z >> 31)


def _state(seed: int, *counters: int) -> int:
    """The state at which a stream starts: one mixing step for the seed and each counter."""
    state = _mix((_whole("seed", seed) + _GAMMA) & _WORD)
    for counter in counters:
        state = _mix((state + (counter + 1) * _GAMMA) & _WORD)
    return state


def _words(state: int, start: int, size: int) -> WordArray:
    """SplitMix64's words number start … start + size - 1 (from 0), from `state`."""
    first = np.uint64((state + (start + 1) * _GAMMA) & _WORD)
    z = np.arange(size, dtype=np.uint64)
    z *= np.uint64(_GAMMA)
    z += first
    z ^= z >> np.uint64(30)
    z *= np.uint64(_MIX_1)
    z ^= z >> np.uint64(27)
    z *= np.uint64(_MIX_2)
    z ^= z >> np.uint64(31)
    return z


def _shuffled(n: int, state: int) -> IntArray:
    return np.argsort(_words(state, 0, n), kind="stable").astype(np.int64, copy=False)


def _below(n: int, size: int, state: int, start: int) -> IntArray:
    """Numbers 0 … n-1 without bias: the high word of word × n, a few words rejected.

    D. Lemire, "Fast random integer generation in an interval", ACM TOMACS 29, 2019,
    algorithm 5. Of the 2⁶⁴ words, those whose low product word is under 2⁶⁴ mod n are
    rejected; a rejected place takes its word from the next stream instead.
    """
    high, low = _product(_words(state, start, size), n)
    rejected = np.flatnonzero(low < np.uint64((1 << 64) % n))
    while len(rejected):
        state = _mix((state + _GAMMA) & _WORD)
        for place in rejected.tolist():
            again = _words(state, start + place, 1)
            high[place : place + 1], low[place : place + 1] = _product(again, n)
        rejected = rejected[low[rejected] < np.uint64((1 << 64) % n)]
    return high.astype(np.int64)


def _product(words: WordArray, n: int) -> tuple[WordArray, WordArray]:
    """The high and the low 64 bits of words × n, from four products of 32-bit halves."""
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    n_high, n_low = np.uint64(n >> 32), np.uint64(n & 0xFFFFFFFF)
    w_high, w_low = words >> half, words & mask
    middle = w_high * n_low + ((w_low * n_low) >> half)
    other = (middle & mask) + w_low * n_high
    high = w_high * n_high + (middle >> half) + (other >> half)
    return high, words * np.uint64(n)
