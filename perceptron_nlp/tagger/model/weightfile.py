"""Weights in a model file; docs/model-format.md tells the arrays."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from perceptron_nlp._core.model.modelrows import highest, in_16_bits, none_is_zero, rise, starts_of
from perceptron_nlp.formats.tensors import Tensor
from perceptron_nlp.tagger.model.quantized import QuantisedWeights
from perceptron_nlp.tagger.model.tablefile import smallest

if TYPE_CHECKING:
    import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"
Bad = Callable[[str, str], Exception]

# A row of a compressed model is told by so many bits of its key at most.
MOST_TABLE_BITS = 48


def weights_as_arrays(weights: QuantisedWeights, pass_number: int) -> dict[str, Array]:
    """The arrays of the weights, by name; they belong to the pass of this number."""
    # Here, since tagging does without NumPy.
    import numpy as np

    narrow = weights.labels.max(initial=0) < 256
    return {
        f"{pass_number}.keys": weights.keys,
        f"{pass_number}.group_starts": weights.group_starts,
        f"{pass_number}.counts": smallest(np.diff(weights.starts)),
        f"{pass_number}.labels": weights.labels.astype(np.uint8) if narrow else weights.labels,
        f"{pass_number}.weights": weights.weights,
    }


def weights_from_arrays(
    described: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    pass_number: int,
    shape: tuple[int, int],
    bad: Bad,
) -> QuantisedWeights:
    """The weights of a file, every part of them checked.

    Parameters
    ----------
    described : the model's description, for ``table_bits`` and ``scale``
    tensors : all arrays of the file
    pass_number : of the pass that they belong to
    shape : how many labels and how many templates there are
    bad : makes the error to raise out of the part's name and what is wrong with it
    """
    n_labels, n_groups = shape
    bits, scale = _table_bits(described, bad), _scale(described, bad)
    named = f"{pass_number}."
    keys = numbers_named(tensors, named + "keys", ("U64",), bad)
    group_starts = numbers_named(tensors, named + "group_starts", ("I64",), bad)
    counts = numbers_named(tensors, named + "counts", ("U8", "U16", "U32"), bad)
    labels = numbers_named(tensors, named + "labels", ("U8", "U16"), bad)
    weights = numbers_named(tensors, named + "weights", ("I16",), bad)
    if len(counts) != len(keys) or len(labels) != len(weights):
        raise bad(f"{named}counts, {named}labels", "of another length than keys and weights")
    starts = starts_of(counts)
    if starts[-1] != len(weights) or not none_is_zero(counts):
        raise bad(named + "counts", "do not add up to the number of weights")
    if highest(labels) >= n_labels:
        raise bad(named + "labels", f"beyond the {n_labels} labels that there are")
    if not none_is_zero(weights):
        raise bad(named + "weights", "some are 0")
    borders = group_starts.tolist()
    if (
        len(borders) != n_groups + 1
        or borders[0] != 0
        or borders[-1] != len(keys)
        or borders != sorted(borders)
    ):
        raise bad(named + "group_starts", "do not divide the rows among the templates")
    if bits is not None and highest(keys) >= 1 << bits:
        raise bad(named + "keys", "beyond the fixed table")
    # A row of a fixed table belongs to all templates, so there rows are all one group.
    if not rise(keys, group_starts if bits is None else whole(keys)):
        raise bad(named + "keys", "not in ascending order")
    labels = in_16_bits(labels)
    if not rise(labels, starts):
        raise bad(named + "labels", "not in ascending order")
    numbers: dict[str, Any] = {
        "keys": keys,
        "group_starts": group_starts,
        "starts": starts,
        "labels": labels,
        "weights": weights,
    }
    return QuantisedWeights(**numbers, scale=scale, table_bits=bits)


def whole(numbers: memoryview) -> memoryview:
    """Where the only row of some numbers begins and ends, as int64."""
    return memoryview(bytes(8) + len(numbers).to_bytes(8, sys.byteorder)).cast("q")


def numbers_named(
    tensors: Mapping[str, Tensor], name: str, dtypes: tuple[str, ...], bad: Bad
) -> memoryview:
    """The numbers of an array of one dimension, of one of these types."""
    tensor = tensors.get(name)
    if tensor is None:
        raise bad(name, "missing")
    if len(tensor.shape) != 1 or tensor.dtype not in dtypes:
        raise bad(name, f"{tensor.kind} is not what it should be")
    return tensor.numbers()


def _table_bits(described: Mapping[str, Any], bad: Bad) -> int | None:
    bits = described["table_bits"]
    if bits is not None and (type(bits) is not int or not 1 <= bits <= MOST_TABLE_BITS):
        raise bad("table_bits", "out of range")
    return bits


def _scale(described: Mapping[str, Any], bad: Bad) -> float:
    scale = described["scale"]
    if not isinstance(scale, float) or not math.isfinite(scale) or scale <= 0:
        raise bad("scale", "not a positive number")
    # Scores are whole numbers of 32 bits before they are divided by it.
    if not math.isfinite(2**31 / scale):
        raise bad("scale", "so small that scores would be infinite")
    return scale
