"""Rows of a model file are judged, and those of a frozen model say, what their cells do."""

from __future__ import annotations

from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_nlp._core.features.extract import FeatureProgram
from perceptron_nlp._core.model.modelrows import rise
from perceptron_nlp._core.tag.decode import SentenceDecoder
from perceptron_nlp.features.templates import Template, compile_templates


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32, np.uint64])
@given(
    rows=st.lists(
        st.lists(st.integers(0, 4), max_size=4).map(sorted)
        | st.lists(st.integers(0, 4), max_size=4),
        min_size=1,
        max_size=12,
    )
)
def test_rows_rise_if_each_number_is_above_the_one_before_it_in_its_row(
    dtype: type, rows: list[list[int]]
) -> None:
    numbers = np.array([number for row in rows for number in row], dtype)
    starts = np.array([0, *accumulate(map(len, rows))])
    expected = all(low < high for row in rows for low, high in pairwise(row))
    assert bool(rise(memoryview(numbers), starts)) == expected


CELL = st.tuples(st.integers(0, 69), st.integers(-300, 300))
ROWS = st.lists(
    st.lists(CELL, max_size=7) | st.lists(CELL, max_size=7).map(sorted), min_size=1, max_size=9
)


@pytest.mark.parametrize("table_bits", [None, 8])
@pytest.mark.parametrize("n_labels", [3, 40, 70])
@given(rows=ROWS)
def test_a_row_of_any_cells_scores_their_sums(
    n_labels: int, table_bits: int | None, rows: list[list[tuple[int, int]]]
) -> None:
    """Up to 64 labels may come in any order, and twice; more must ascend."""
    rows = [[(label % n_labels, weight) for label, weight in row] for row in rows]
    if n_labels > 64:
        rows = [sorted(dict(row).items()) for row in rows]
    cells = [cell for row in rows for cell in row]
    keys = np.arange(1, len(rows) + 1, dtype=np.uint64)
    decoder = SentenceDecoder(
        FeatureProgram(compile_templates([Template.parse("word[0]")])),
        keys=keys,
        starts=np.array([0, *accumulate(map(len, rows))]),
        cell_labels=np.array([label for label, _ in cells], np.uint16),
        weights=np.array([weight for _, weight in cells], np.int16),
        table_bits=table_bits,
        labels=[f"L{k}" for k in range(n_labels)],
        label_hashes=np.arange(n_labels, dtype=np.uint64),
    )
    asked = keys << np.uint64(64 - table_bits) if table_bits else keys
    for key, row in zip(asked, rows, strict=True):
        expected = np.zeros(n_labels)
        for label, weight in row:
            expected[label] += weight
        assert decoder.score(np.array([key], np.uint64)).tolist() == expected.tolist()
