"""Results as tables: rows, data frames, and what notebooks show."""

from __future__ import annotations

import sys

import pytest

import perceptron_nlp as pn
from perceptron_nlp.pages.renderers import Reported
from perceptron_nlp.pages.reports import Column, Report, Table

TEXT = [(["a", "b", "c"], ["X", "Y", "Z"]), (["b", "c"], ["Y", "X"])] * 4


class Result(Reported):
    """A result of so many rows."""

    def __init__(self, n: int) -> None:
        self.n = n

    def report(self) -> Report:
        columns = [Column("label"), Column("share", "percent"), Column("none")]
        rows = [(f"<{i}>\x1b", i / 3, None if i else "") for i in range(self.n)]
        return Report("a & b", tables=[Table("t", "", columns, rows, 40)])


def results() -> list[Reported]:
    tagger = pn.train(TEXT, epochs=2)
    return [
        tagger.evaluate(TEXT),
        tagger.explain(["a", "b"]),
        pn.cross_validate(TEXT, folds=2, epochs=1),
        pn.learning_curve(TEXT, test=TEXT, epochs=1),
        pn.doctor(TEXT, folds=2),
        pn.inspect(tagger),
        pn.compare(tagger, pn.train(TEXT, epochs=1), TEXT),
    ]


def test_every_result_is_a_table_with_the_same_keys_in_each_row() -> None:
    for result in results():
        rows = result.rows()
        assert len({tuple(row) for row in rows}) <= 1
        html = result._repr_html_()
        assert html.startswith("<h2>") and ("<table>" in html or not rows)
        # A table that is wider than the screen scrolls by itself.
        assert html.count("<table>") == html.count(' tabindex="0"><table>')


def test_text_of_a_table_is_escaped_and_long_tables_are_cut() -> None:
    html = Result(45)._repr_html_()
    assert html.startswith("<h2>a &amp; b</h2>")
    assert "&lt;1&gt;\\x1b" in html and "\x1b" not in html
    assert "33.33" in html and ">–</td>" in html
    assert html.endswith("<p>… and 5 more rows</p>")
    assert Result(0)._repr_html_() == "<h2>a &amp; b</h2>"


def test_a_data_frame_is_of_pandas_or_polars(monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = pytest.importorskip("pandas")
    result = pn.train(TEXT, epochs=2).evaluate(TEXT)
    frame = result.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["label"].tolist() == [row["label"] for row in result.rows()]
    monkeypatch.setitem(sys.modules, "pandas", None)
    polars = pytest.importorskip("polars")
    assert isinstance(result.to_frame(), polars.DataFrame)


def test_without_either_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(pn.MissingExtraError, match=r"perceptron-nlp\[frames\]"):
        Result(1).to_frame()
