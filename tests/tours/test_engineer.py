"""The tour of docs/tours/engineer.md, from a Parquet file of text to tags beside its rows."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from conftest import Walk

import perceptron_nlp as pn


# Libraries warn about themselves.
@pytest.mark.filterwarnings("ignore")
def test_an_engineer_leaves_with_tags_in_parquet_beside_the_rows_that_they_belong_to(
    walked: Callable[[str], Walk],
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra arrow")
    tour = walked("engineer")
    reviews, tagged = (
        parquet.read_table(tour.folder / name).to_pylist()
        for name in ("reviews.parquet", "tagged.parquet")
    )
    english = pn.load("en").by_column["upos"]
    texts = {row["id"]: row["text"] for row in reviews}
    assert len(texts) == 1000 and {row["id"] for row in tagged} == set(texts)
    for row in tagged[:50]:
        assert row["upos"] == english.tag(row["tokens"])
        assert all(0 <= share <= 1 for share in row["upos_confidence"])
        assert all(word in texts[row["id"]] for word in row["tokens"])
