"""Weights in a model file; docs/model-format.md tells the arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_nlp.tagging.quantised import QuantisedWeights
from perceptron_nlp.tagging.tablefile import smallest

Array = npt.NDArray[Any]
Bad = Callable[[str, str], Exception]

# A row of a compressed model is told by so many bits of its key at most.
MOST_TABLE_BITS = 48


def weights_as_arrays(weights: QuantisedWeights, pass_number: int) -> dict[str, Array]:
    """The arrays of the weights, by name; they belong to the pass of this number."""
    narrow = weights.labels.max(initial=0) < 256
    return {
        f"{pass_number}.keys": weights.keys,
        f"{pass_number}.group_starts": weights.group_starts,
        f"{pass_number}.counts": smallest(np.diff(weights.starts)),
        f"{pass_number}.labels": weights.labels.astype(np.uint8) if narrow else weights.labels,
        f"{pass_number}.weights": weights.weights,
    }


def weights_from_arrays(described: Mapping[str, Any], arrays: Mapping[str, Array],
                        pass_number: int, shape: tuple[int, int], bad: Bad) -> QuantisedWeights:
    """The weights of a file, every part of them checked.

    Parameters
    ----------
    described : the model's description, for ``table_bits`` and ``scale``
    arrays : all arrays of the file
    pass_number : of the pass that they belong to
    shape : how many labels and how many templates there are
    bad : makes the error to raise out of the part's name and what is wrong with it
    """
    n_labels, n_groups = shape
    bits, scale = _table_bits(described, bad), _scale(described, bad)
    named = f"{pass_number}."
    keys = array_named(arrays, named + "keys", (np.uint64,), bad)
    group_starts = array_named(arrays, named + "group_starts", (np.int64,), bad)
    counts = array_named(arrays, named + "counts", (np.uint8, np.uint16, np.uint32), bad)
    labels = array_named(arrays, named + "labels", (np.uint8, np.uint16), bad)
    weights = array_named(arrays, named + "weights", (np.int16,), bad)
    if len(counts) != len(keys) or len(labels) != len(weights):
        raise bad(f"{named}counts, {named}labels", "of another length than keys and weights")
    if int(counts.sum(dtype=np.int64)) != len(weights) or (len(counts) and counts.min() < 1):
        raise bad(named + "counts", "do not add up to the number of weights")
    if len(labels) and int(labels.max()) >= n_labels:
        raise bad(named + "labels", f"beyond the {n_labels} labels that there are")
    if not weights.all():
        raise bad(named + "weights", "some are 0")
    if (len(group_starts) != n_groups + 1 or group_starts[0] != 0
            or group_starts[-1] != len(keys) or (group_starts[1:] < group_starts[:-1]).any()):
        raise bad(named + "group_starts", "do not divide the rows among the templates")
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    if bits is not None and len(keys) and int(keys.max()) >= 1 << bits:
        raise bad(named + "keys", "beyond the fixed table")
    # A row of a fixed table belongs to all templates, so there rows are all one group.
    if not _rises(keys, group_starts if bits is None else group_starts[:1]):
        raise bad(named + "keys", "not in ascending order")
    if not _rises(labels, starts):
        raise bad(named + "labels", "not in ascending order")
    return QuantisedWeights(keys, group_starts, starts, labels.astype(np.uint16), weights, scale,
                            bits)


def array_named(arrays: Mapping[str, Array], name: str, dtypes: tuple[Any, ...], bad: Bad
                ) -> Array:
    """An array of one dimension, of one of these types."""
    array = arrays.get(name)
    if array is None:
        raise bad(name, "missing")
    if array.ndim != 1 or array.dtype not in [np.dtype(dtype) for dtype in dtypes]:
        raise bad(name, f"{array.dtype}{list(array.shape)} is not what it should be")
    return array


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


def _rises(values: Array, starts: Array) -> bool:
    """Do values rise from each of the starts to the next? Then nothing stands there twice."""
    rises = np.ones(len(values) + 1, bool)
    rises[1:-1] = values[1:] > values[:-1]
    rises[starts] = True
    return bool(rises[:len(values)].all())
