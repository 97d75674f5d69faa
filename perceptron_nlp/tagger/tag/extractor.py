"""Features made by a person's own Python function instead of templates.

The function is called as ``function(tokens, i, history)`` for word ``i`` of ``tokens`` (a
Sentence: a sequence of its words, with their other columns in ``tokens.columns``), where
``history`` is the list of labels already given in this sentence, in the order in which they were
given. It returns features: strings, or a mapping from string to number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from perceptron_nlp._core.features.hashing import hash64
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, quote
from perceptron_nlp.tagger.tag.wordbytes import word_bytes
from perceptron_nlp.text.sentence import Sentence

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Features: TypeAlias = Iterable[str] | Mapping[str, float]
Extractor: TypeAlias = Callable[[Sentence, int, list[str]], Features]


def reading_order(n: int, right_to_left: bool) -> range:
    """The places of a sentence of n words in the order in which they are labelled."""
    return range(n - 1, -1, -1) if right_to_left else range(n)


def extractor_name(function: Extractor) -> str:
    """What a model file calls the function: its module and qualified name."""
    if not callable(function):
        raise ArgumentTypeError(f"features: a function is needed, not {type(function).__name__}")
    module = getattr(function, "__module__", None) or "?"
    return f"{module}.{getattr(function, '__qualname__', type(function).__qualname__)}"


def extract(
    function: Extractor, sentence: Sentence, i: int, history: list[str]
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float64] | None]:
    """Keys and values of one word's features; None stands for values of 1.

    Raises
    ------
    ArgumentTypeError : the function returned something else than strings, or strings with numbers
    ArgumentError : a value is not finite
    """
    import numpy as np

    found = function(sentence, i, history)
    if isinstance(found, str | bytes) or not isinstance(found, Iterable):
        raise ArgumentTypeError(
            f"features: {extractor_name(function)} returned {type(found).__name__};"
            " strings, or a mapping from string to number, are needed"
        )
    keys = []
    for name in found:
        if not isinstance(name, str):
            raise ArgumentTypeError(
                f"features: {extractor_name(function)} returned a feature of type"
                f" {type(name).__name__}; a str is needed"
            )
        keys.append(hash64(word_bytes(name)))
    if not isinstance(found, Mapping):
        return np.array(keys, np.uint64), None
    try:
        values = np.array(list(found.values()), np.float64)
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            f"features: {extractor_name(function)} returned a value that is no number"
        ) from None
    if not np.isfinite(values).all():
        bad = list(found)[int(np.argmin(np.isfinite(values)))]
        raise ArgumentError(
            f"features: the value of {quote(bad)} from {extractor_name(function)} is not finite"
        )
    return np.array(keys, np.uint64), values
