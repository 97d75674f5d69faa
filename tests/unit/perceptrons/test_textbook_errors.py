"""What the textbook says of input that it cannot learn from."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError
from perceptron_nlp.perceptrons.textbook import (
    Binary,
    Delta,
    MaximalValue,
    Minibatch,
    MinibatchRandom,
    Multiclass,
    Replacement,
    train,
)

X = np.array([[1.0, 2.0], [3.0, 4.0]])
Y = [1, -1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: train(Binary(), [1, 2], Y), r"X must be a table .* got shape \(2,\)"),
        (lambda: train(Binary(), np.zeros((0, 2)), []), r"X must be a table .* shape \(0, 2\)"),
        (lambda: train(Binary(), [[1], [1, 2]], Y), "X must be a table: its rows differ"),
        (lambda: train(Binary(), [[1, np.nan]], [1]), r"X\[0, 1\] is nan; it must be finite"),
        (
            lambda: train(Binary(), np.array([[Fraction(1), float("inf")]], dtype=object), [1]),
            r"X\[0, 1\] is inf; it must be finite",
        ),
        (lambda: train(Binary(), X, [1]), r"y must have one label for each of the 2 rows of X"),
        (lambda: train(Binary(), X, [1, 0]), r"y\[1\] is '0', not one of -1, 1"),
        (lambda: train(Multiclass(3), X, [3, 0]), r"y\[0\] is '3', not one of 0, 1, 2"),
        (lambda: train(Binary(), X, Y, max_epochs=0), "max_epochs must be 1 or more, got 0"),
        (lambda: train(Binary(), X, Y, start=np.zeros(3)), r"start must have the shape \(2,\)"),
        (lambda: train(Binary(), X, Y, rate=lambda i: -1), "schedule '<lambda>' at i = 1 must be"),
        (lambda: train(Binary(), X, Y, order=Minibatch(3)), "size is 3, but there are only 2"),
        (
            lambda: train(Binary(), X, Y, order=MinibatchRandom(3)),
            "size is 3, but there are only 2",
        ),
        (lambda: train(Binary(), X, Y, order=Minibatch(0)), "size must be 1 or more, got 0"),
        (lambda: Binary(margin=-1), "margin must be finite and 0 or more, got -1"),
        (lambda: MaximalValue(3, margin=float("nan")), "margin must be finite and 0 or more"),
        (lambda: Multiclass(1), "classes must be 2 or more, got 1"),
        (lambda: MaximalValue(1), "classes must be 2 or more, got 1"),
        (lambda: Replacement(tol=-1), "tol must be finite and 0 or more, got -1"),
        (lambda: MinibatchRandom(2, tol=-1), "tol must be finite and 0 or more, got -1"),
        (lambda: Minibatch(2, tol=float("inf")), "tol must be finite and 0 or more, got inf"),
    ],
)
def test_a_value_that_cannot_be_used_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: train(Binary(), [["a"]], [1]), "X must hold numbers, got dtype <U1"),
        (
            lambda: train(Binary(), np.array([[1, None]], dtype=object), [1]),
            "X of dtype object must hold real numbers only",
        ),
        (lambda: train(Binary(), X, ["1", "2"]), "y must hold labels that are numbers"),
        (lambda: train(Binary(), X, Y, max_epochs=1.5), "max_epochs must be an integer"),
        (lambda: Binary(margin="wide"), "margin must be a number, got"),
        (
            lambda: Delta(np.array([0]), np.array([0.5])).add_to(np.array([1, 2])),
            "weights of dtype int64 cannot take an update of dtype float64",
        ),
    ],
)
def test_a_type_that_cannot_be_used_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ArgumentTypeError, match=message):
        call()
