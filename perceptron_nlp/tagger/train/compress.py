"""The best model within a size: how many rows, in how fine steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.tagger.model.derived import FirstPass
from perceptron_nlp.tagger.model.file import model_to_bytes
from perceptron_nlp.tagger.model.model import Segmentation, TaggerModel
from perceptron_nlp.tagger.model.weights import LARGEST, QuantizedWeights
from perceptron_nlp.tagger.train.calibrate import calibrated_columns, with_room
from perceptron_nlp.tagger.train.sources import Source

Score = Callable[[TaggerModel], float]
Calibrate = Callable[[TaggerModel], TaggerModel]

# The most that the heaviest weight is as a whole number; None is as fine as it was. Coarser steps
# take fewer bits and leave room for more rows: which is better is measured. The first is for models
# that nothing is measured on.
STEPS = (127, 63, 31, 255, None)
# No model is smaller: the description of its arrays alone takes more.
LEAST_BYTES = 1000
# Of the rows of large models for running text, this share stays. It costs no more than 0.1 points
# in any column of the dev parts of English-EWT and Turkish-IMST.
_KEPT, _MANY_ROWS = 0.85, 300_000
# Where the training record tells of it.
RECORD = "compressed"
# The share of rows is found to within one in so many.
FINEST_SHARE = 1 << 17
# As many digits as a score can have in the record.
_LONGEST_SCORE = 0.123456


def compress_model(
    model: TaggerModel,
    size: int,
    score: Score | None = None,
    calibrate: Calibrate | None = None,
    *,
    steps: Sequence[int | None] = (),
) -> TaggerModel:
    """The model in at most `size` bytes.

    A model that fits stays as it is, and one that would without the state of its training loses
    that. Else it is packed, in keys of fewer bits, with as many rows as
    fit; how fine weights are is chosen by `score`, and where there is none, the heaviest weight is
    127 at most. Its training record then has, as ``compressed``, what it was made from and to:
    ``size``, ``bytes_before``, ``rows_before``, ``steps`` (the most that the heaviest weight may be
    as a whole number) and ``scores`` (before and after; null without `score`).

    model : of any kind
    size : bytes, at least 1
    score : how good a model is, from 0 to 1
    calibrate : None, or what calibrates the model that comes out
    steps : what the heaviest weight may be at most, each in turn; none for those of STEPS

    Raises ArgumentError if not even one row of each table fits; the message says what is needed.
    """
    n_bytes = len(model_to_bytes(model))
    if n_bytes <= size:
        return model
    # What tags does not need it, and nothing weighs more.
    model = model.without_state()
    if len(model_to_bytes(model)) <= size:
        return model
    forms = _Forms(
        model, size, n_bytes, None if score is None else score(model), calibrate is not None
    )
    best: tuple[float, TaggerModel] | None = None
    # Fewer steps than these would be another model.
    tried = steps or (STEPS[:1] if score is None else STEPS)
    for most in tried:
        share = forms.largest_share(most)
        if share is None:
            continue
        found = forms.of(share, most)
        points = 0.0 if score is None else score(found)
        if best is None or points > best[0]:
            best = points, forms.of(share, most, None if score is None else points)
    if best is None:
        raise ArgumentError(
            f"size: {size:,} bytes are too few for this model, whatever is left"
            f" out of it; the least that it can do with is {forms.least(tried):,}"
        )
    return best[1] if calibrate is None else calibrate(best[1])


def compress_by(source: Source, model: TaggerModel, size: int, score: Score) -> TaggerModel:
    """compress_model, and what comes out calibrated again on labeled text, if that does."""

    def calibrate(smaller: TaggerModel) -> TaggerModel:
        return calibrated_columns(smaller, source)[0]

    left_out = calibrated_columns(model, source)[1]
    does = len(left_out) < len(model.parts_by_column)
    return compress_model(model, size, score, calibrate if does else None)


def in_bytes(model: TaggerModel) -> TaggerModel:
    """The model packed, with weights of 8 bits; if it is large, without its lightest rows."""
    return _smaller(model, 1.0 if n_rows(model) < _MANY_ROWS else _KEPT, STEPS[0])


def n_rows(model: TaggerModel) -> int:
    """Features with weights, in all columns and passes."""
    return (
        model.weights.n_rows
        + (0 if model.first is None else n_rows(model.first))
        + sum(n_rows(other) for other in model.more)
    )


class _Forms:
    """Compressed forms of a model, and how large they are."""

    def __init__(
        self, model: TaggerModel, size: int, n_bytes: int, score: float | None, to_calibrate: bool
    ) -> None:
        self._model = model
        self._size = size
        self._n_bytes = n_bytes
        self._score = score
        self._to_calibrate = to_calibrate

    def of(self, share: float, steps: int | None, score: float | None = None) -> TaggerModel:
        """The model with this share of its rows.

        Its record is as long as it can become where `score` is not known yet, so that what fits
        now fits then, too.
        """
        if score is None and self._score is not None:
            score = _LONGEST_SCORE
        scores = [None if one is None else round(one, 6) for one in (self._score, score)]
        smaller = _smaller(self._model, share, steps)
        return smaller.replace(
            record={
                **smaller.record,
                RECORD: {
                    "size": self._size,
                    "bytes_before": self._n_bytes,
                    "rows_before": n_rows(self._model),
                    "steps": steps,
                    "scores": scores,
                },
            }
        )

    def bytes_of(self, share: float, steps: int | None) -> int:
        """The size of its file, at most."""
        found = self.of(share, steps)
        return len(model_to_bytes(with_room(found) if self._to_calibrate else found))

    def least(self, tried: Sequence[int | None]) -> int:
        """The least size, above the one that was asked for, that a form fits."""
        # A longer number of bytes in the record takes more bytes.
        while (found := min(self.bytes_of(0.0, most) for most in tried)) > self._size:
            self._size = found
        return self._size

    def largest_share(self, steps: int | None) -> float | None:
        """The most of the rows that fit; None if not even one of each table does."""
        if self.bytes_of(1.0, steps) <= self._size:
            return 1.0
        if self.bytes_of(0.0, steps) > self._size:
            return None
        low, high = 0, FINEST_SHARE
        while high - low > 1:
            middle = (low + high) // 2
            if self.bytes_of(middle / FINEST_SHARE, steps) <= self._size:
                low = middle
            else:
                high = middle
        return low / FINEST_SHARE


def _smaller(model: TaggerModel, share: float, steps: int | None) -> TaggerModel:
    first = () if model.first is None else (FirstPass(_smaller(model.first, share, steps)),)
    return model.deriving(*first).replace(
        weights=reduced(model.weights, share, steps),
        packed=True,
        more=tuple(_smaller(other, share, steps) for other in model.more),
        segmentation=_packable(model.segmentation, steps),
    )


def _packable(segmentation: Segmentation | None, steps: int | None) -> Segmentation | None:
    """A segmentation with all its rows: no score tells what leaving some out would cost."""
    if segmentation is None:
        return None
    cut, splits = segmentation.cut, segmentation.splits
    return segmentation._replace(
        cut=cut.replace(weights=reduced(cut.weights, 1.0, steps)),
        splits=None
        if splits is None
        else splits.replace(weights=reduced(splits.weights, 1.0, steps)),
    )


# A feature that the model does not have meets a row by chance once in 2^12 times at most.
SPARE_BITS = 12
# With keys of more bits nothing is saved that the number of rows would not outweigh.
MOST_BITS = 48


def reduced(weights: QuantizedWeights, share: float, steps: int | None) -> QuantizedWeights:
    """The heaviest rows, their weights in fewer steps, in a fixed table.

    Rows are ranked by their largest weight. Keys are cut to log2(rows) + 12 bits, as those of a
    fixed table of so many rows. Where two keys become one, the heavier row stays.

    weights : what to begin with
    share : how many of the rows stay, from 0 to 1; one at least, where there is one
    steps : the most that the heaviest weight may be as a whole number; None leaves weights as
        they are. Weights that round to 0 go, and rows without others
    """
    n_groups = len(weights.group_starts) - 1
    if not weights.n_rows:
        return weights
    sizes = row_sizes(weights)
    order = np.argsort(-sizes, kind="stable")
    scale = scale_for(weights, steps)
    values = np.rint(weights.weights * (scale / weights.scale)).astype(np.int16)
    in_row = np.repeat(np.arange(weights.n_rows), np.diff(weights.starts))
    stay = np.zeros(weights.n_rows, bool)
    stay[order[: max(1, round(share * weights.n_rows))]] = True
    cells = np.flatnonzero(stay[in_row] & (values != 0))
    counts = np.bincount(in_row[cells], minlength=weights.n_rows)
    rows = order[counts[order] > 0]
    bits = _key_bits(weights, len(rows))
    keys = weights.keys[rows] >> np.uint64((weights.table_bits or 64) - bits)
    # The first of equal keys is that of the heaviest row.
    keys, first = np.unique(keys, return_index=True)
    rows = rows[first]
    starts = np.concatenate([[0], np.cumsum(counts[rows])])
    before = np.concatenate([[0], np.cumsum(counts)])
    cells = cells[np.repeat(before[rows] - starts[:-1], counts[rows]) + np.arange(starts[-1])]
    return QuantizedWeights(
        keys=keys,
        group_starts=np.array([0] + [len(keys)] * n_groups, np.int64),
        starts=starts.astype(np.int64),
        labels=weights.labels[cells],
        weights=values[cells],
        scale=scale,
        table_bits=bits,
    )


def row_sizes(weights: QuantizedWeights) -> npt.NDArray[np.int32]:
    """int32[n_rows]: the largest weight of each row, without its sign."""
    sizes: npt.NDArray[np.int32] = np.maximum.reduceat(
        np.abs(weights.weights.astype(np.int32)), weights.starts[:-1]
    )
    return sizes


def scale_for(weights: QuantizedWeights, steps: int | None) -> float:
    """The finest power of two, none finer than there is, that keeps weights within the steps."""
    largest = int(np.abs(weights.weights.astype(np.int32)).max(initial=0))
    if steps is None or largest <= steps:
        return weights.scale
    return weights.scale * 2.0 ** math.floor(math.log2(min(steps, LARGEST) / largest))


def _key_bits(weights: QuantizedWeights, n_rows: int) -> int:
    wanted = min(MOST_BITS, math.ceil(math.log2(max(2, n_rows))) + SPARE_BITS)
    return wanted if weights.table_bits is None else min(wanted, weights.table_bits)
