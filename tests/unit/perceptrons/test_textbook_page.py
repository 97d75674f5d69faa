"""The page on the perceptron family: its code runs, and it leaves nothing out."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "perceptron-family.md"


def test_every_line_of_code_on_the_page_runs_and_prints_what_is_shown() -> None:
    failed, attempted = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert failed == 0
    assert attempted > 60


@pytest.mark.parametrize("number", [f"L{i}" for i in range(1, 13)] + [f"O{i}" for i in range(1, 7)])
def test_every_learner_and_order_has_a_heading_or_a_row(number: str) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert re.search(rf"^(#+ .*\b{number}: |\| {number} \|)", text, flags=re.MULTILINE)


def test_links_within_the_page_lead_to_its_headings() -> None:
    text = PAGE.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in headings}
    links = set(re.findall(r"\]\(#([^)]*)\)", text))
    assert links and links <= anchors
