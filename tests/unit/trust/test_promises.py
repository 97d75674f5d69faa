"""The quick size of every promise of docs/promises.md; the full one is benchmarks/trust."""

from __future__ import annotations

import pytest

from benchmarks.trust import removed
from benchmarks.trust.reached import Missing, Row
from benchmarks.trust.table import ROWS


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.id}: {row.promise}")
def test_the_promise_is_kept(row: Row) -> None:
    try:
        reached = row.check(False)
    except Missing as error:
        pytest.skip(str(error))
    assert reached.kept, reached.figure


def test_every_promise_has_a_protection_whose_removal_can_be_tried() -> None:
    assert {removal.row for removal in removed.REMOVALS} == {row.id for row in ROWS}
    assert removed.stale() == []
