"""The lesson on the perceptron family: its formulas can be shown, its pictures tell the truth."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "perceptron-family.md"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not here")


def test_every_formula_is_one_that_the_site_can_show() -> None:
    latex2mathml = pytest.importorskip(
        "docutils.utils.math.latex2mathml", reason="formulas are made with the extra docs"
    )
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", PAGE.read_text("utf-8"), flags=re.S | re.M)
    formulas = re.findall(r"\$\$(.*?)\$\$|\$([^$\n]+)\$", text, re.S)
    assert len(formulas) > 20
    for block, inline in formulas:
        assert "<math" in str(latex2mathml.tex2mathml(block.strip() or inline))


def test_each_learner_begins_with_its_idea_and_there_are_four_exercises_with_answers() -> None:
    text = PAGE.read_text("utf-8")
    for heading in ("### L1", "### L2", "### L3", "### L4", "## Voting", "## Averaging"):
        section = re.split(r"^##", text.partition(f"\n{heading}")[2], flags=re.M)[0]
        assert "*Idea.*" in section and "$$" in section, heading
    exercises = text.partition("\n## Exercises")[2].partition("\n## ")[0]
    assert re.findall(r"^\*\*(\d)\.", exercises, re.M) == ["1", "2", "3", "4"]
    assert exercises.count("<summary>Answer</summary>") == 4


def test_of_the_trainings_drawn_the_average_errs_less_and_varies_less_than_the_last() -> None:
    figures = runpy.run_path(str(ROOT / "scripts" / "lesson_pictures.py"))["averaging_figures"]()
    last, mean = zip(*figures, strict=True)
    assert sum(a < b for a, b in zip(mean, last, strict=True)) >= 9
    assert max(mean) - min(mean) < (max(last) - min(last)) / 3


def test_the_pictures_are_drawn_the_same_on_each_run(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="charts need the extra report")
    main = runpy.run_path(str(ROOT / "scripts" / "lesson_pictures.py"))["main"]
    for name in ("a", "b"):
        main(tmp_path / name)
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == sorted(path.name for path in (ROOT / "docs/images").glob("lesson-*.svg"))
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
