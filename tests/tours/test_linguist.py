"""The tour of docs/tours/linguist.md, from two hundred sentences to a tagger and a table."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Walk
from oracles.pages import Page

import perceptron_nlp as pn


def labels(path: Path) -> list[str]:
    """The UPOS column of a file."""
    return [label for sentence in pn.read_conllu(path) for label in sentence.column("upos")]


def seen_by_a_reader(browser: Any, path: Path) -> str:
    """The text of a page, read in a browser on a phone, where there is one."""
    if browser is None:
        return " ".join(Page(path.read_text("utf-8")).texts)
    page = browser.new_page(viewport={"width": 390, "height": 800})
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.goto(path.as_uri())
    closed = page.locator("details:not([open]) > summary")
    for _ in range(min(5, closed.count())):
        closed.first.click()
    text = str(page.locator("body").inner_text())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert not wrong
    page.close()
    return text


def test_a_linguist_leaves_with_a_tagger_a_table_and_fewer_slips(
    walked: Callable[[str], Walk], browser: Any
) -> None:
    for library in ("matplotlib", "jinja2"):
        pytest.importorskip(library, reason="reports need the extra report")
    tour = walked("linguist")
    right, mine, corrected = (
        labels(tour.folder / name)
        for name in ("right.conllu", "mine.conllu", "corrected/mine.conllu")
    )
    slips = sum(a != b for a, b in zip(right, mine, strict=True))
    left = sum(a != b for a, b in zip(right, corrected, strict=True))
    assert slips == 19 and left < slips / 2

    tagger = pn.load(tour.folder / "my.model")
    paper = json.loads((tour.folder / "paper.json").read_text("utf-8"))
    accuracy = tagger.evaluate("data/english-test.conllu").accuracy
    assert paper["accuracy"] == pytest.approx(accuracy) and accuracy > 0.85

    for command in (
        "perceptron-nlp compare first.model my.model data/english-test.conllu",
        "perceptron-nlp doctor mine.conllu --folds 2 --limit 5",
        "perceptron-nlp inspect my.model",
    ):
        assert [line for line in tour.on_a_terminal(command) if len(line) > 80] == []

    report = seen_by_a_reader(browser, tour.folder / "report" / "index.html")
    assert f"{100 * accuracy:.2f} %" in report
    curve = seen_by_a_reader(browser, tour.folder / "curve.html")
    assert re.search(r"90\.\d\d", curve)

    found = list(pn.read_conllu(tour.folder / "harbor.conllu"))
    text = (tour.folder / "data" / "harbor.txt").read_text("utf-8")
    assert "".join(form for one in found for form in one.words) == "".join(text.split())
    tags = labels(tour.folder / "harbor.conllu")
    assert 0.5 < sum(tag != "_" for tag in tags) / len(tags) < 1
