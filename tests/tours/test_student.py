"""The tour of docs/tours/student.md, from five points on paper to a tagger that adds up."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from conftest import Walk
from oracles.pages import Page

import perceptron_nlp as pn


def test_a_student_leaves_with_the_lectures_numbers_a_page_of_charts_and_a_tagger(
    walked: Callable[[str], Walk],
) -> None:
    for library in ("matplotlib", "jinja2"):
        pytest.importorskip(library, reason="study draws with the extra report")
    tour = walked("student")
    w, run = tour.names["w"], tour.names["run"]
    assert w.tolist() == run.w.tolist() == [0, 0, 3]  # type: ignore[attr-defined]

    page = Page((tour.folder / "study" / "study.html").read_text("utf-8"))
    charts = [attributes for name, attributes in page.elements if name == "svg"]
    assert len(charts) >= 6 and all(chart["aria-label"] for chart in charts)
    pictures = {path.stem for path in (tour.folder / "study").glob("*.png")}
    assert {"learning-curves", "order-spread", "margins", "seven-steps"} <= pictures

    tagger = pn.load(tour.folder / "lecture.model")
    for words in ("They light the fire .", "The old man the boats ."):
        for why in tagger.explain(words.split()):
            total = sum(one.weight - one.runner_up_weight for one in why.features)
            assert total == pytest.approx(why.margin, abs=1e-9)
