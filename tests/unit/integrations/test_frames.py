"""Data frames of other libraries go through tag_arrow and come back as theirs."""

from __future__ import annotations

import pytest

import perceptron_nlp as pn

pytest.importorskip("pyarrow", reason="the extra arrow is not installed")
from perceptron_nlp.integrations.arrow import tag_arrow

# Warnings of these libraries about each other.
pytestmark = pytest.mark.filterwarnings("ignore")
ROWS = [["The", "old", "man"], ["Stop", "!"]]


@pytest.fixture
def labels(tagger: pn.Tagger) -> list[list[str]]:
    return tagger.tag_sents(ROWS)


def test_polars_columns_and_frames(tagger: pn.Tagger, labels: list[list[str]]) -> None:
    pl = pytest.importorskip("polars", reason="polars is not installed")
    frame = pl.DataFrame({"tokens": [*ROWS, None, []]})
    series = pl.Series("tag", tag_arrow(tagger, frame["tokens"]))
    assert series.to_list() == [*labels, None, []]
    assert frame.with_columns(series).equals(pl.DataFrame(tag_arrow(tagger, frame)))


def test_pandas_frames(tagger: pn.Tagger, labels: list[list[str]]) -> None:
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    found = tag_arrow(tagger, pd.DataFrame({"tokens": ROWS})).to_pandas()
    assert [list(row) for row in found["tag"]] == labels
    with pytest.raises(pn.ArgumentError, match="data: cannot be converted to Arrow"):
        tag_arrow(tagger, pd.DataFrame({"tokens": [["The", 3], "old"]}))
    with pytest.raises(pn.ArgumentError, match="cannot be converted to Arrow: Duplicate column"):
        tag_arrow(tagger, pd.DataFrame([[["The"], 1, 2]], columns=["tokens", "x", "x"]))


def test_duckdb_relations(tagger: pn.Tagger, labels: list[list[str]]) -> None:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    with duckdb.connect() as connection:
        relation = connection.sql("select ['The', 'old', 'man'] as tokens")
        connection.register("found", tag_arrow(tagger, relation))
        assert connection.sql("select tag from found").fetchall() == [(labels[0],)]


def test_datasets_of_hugging_face(tagger: pn.Tagger, labels: list[list[str]]) -> None:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    datasets.disable_progress_bars()
    data = datasets.Dataset.from_dict({"tokens": ROWS}).with_format("arrow")
    found = data.map(lambda table: tag_arrow(tagger, table), batched=True)
    assert found.with_format(None)["tag"][:] == labels
