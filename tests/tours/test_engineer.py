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
    assert [(row["id"], row["text"]) for row in tagged] == [
        (row["id"], row["text"]) for row in reviews
    ]
    english = pn.load("en")
    for row in tagged[:11]:
        expected = [
            (word.form, word.labels["upos"], word.start, word.end, number)
            for number, sentence in enumerate(english.tag_text(row["text"]))
            for word in sentence
        ]
        found = [
            (word["form"], word["upos"], word["start"], word["end"], word["sentence"])
            for word in row["words"]
        ]
        assert found == expected
