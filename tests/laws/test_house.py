"""The house as ``make house`` counts it: what is within its limit stays there."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "house.py"
if not SCRIPT.exists():
    pytest.skip("a source distribution does not count its lines", allow_module_level=True)

KEPT = (
    "modules under 60 lines",
    "module names that occur twice in a layer",
    "runs of ten lines that stand twice",
    "facts with a second home",
)


# Figures that are over their limits may not grow: what they were, and a hundredth more.
REACHED = {
    "lines of Python": 48_360,
    "modules of Python": 214,
    "modules over 400 lines, but the facade": 7,
    "lines of the core": 17_467,
    "files of the core": 60,
    "classes for a sentence or a text": 21,
    "methods of Tagger that label": 7,
    "load and tag: modules": 32,
    "load and tag: lines": 6_495,
    "tag en < text: modules": 54,
    "tag en < text: lines": 11_671,
    "train --dev: modules": 66,
    "train --dev: lines": 14_268,
    "train --dev: lines hardly run": 1_500,
}


@pytest.fixture(scope="module")
def house() -> ModuleType:
    spec = importlib.util.spec_from_file_location("house", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def figures(house: ModuleType) -> dict[str, tuple[int, int, str]]:
    found = [*house.figures(), *house.closures()]
    return {name: (value, limit, where) for name, value, limit, where in found}


@pytest.mark.parametrize("name", KEPT)
def test_a_figure_of_the_house_is_within_its_limit(
    name: str, figures: dict[str, tuple[int, int, str]]
) -> None:
    value, limit, where = figures[name]
    assert value <= limit, f"{name}: {where}"


def test_the_page_for_contributors_gives_these_limits(
    house: ModuleType, figures: dict[str, tuple[int, int, str]]
) -> None:
    page = (SCRIPT.parents[1] / "CONTRIBUTING.md").read_text("utf-8")
    table = page.partition("| figure | limit |")[2].partition("\n\n")[0]
    cells = [row.split("|")[-2] for row in table.splitlines() if row]
    given = {number for cell in cells for number in re.findall(r"\d[\d,]*", cell)}
    limits = [limit for _, limit, _ in figures.values()]
    for _, modules, lines in house.JOBS.values():
        limits += [modules, lines]
    limits += [house.UNUSED_LINES]
    assert {f"{limit:,}" for limit in limits} <= given


@pytest.mark.parametrize("name", REACHED)
def test_a_figure_over_its_limit_does_not_grow(
    name: str, figures: dict[str, tuple[int, int, str]]
) -> None:
    value, limit, where = figures[name]
    assert value <= max(limit, REACHED[name]), f"{name}: {where}"


def test_every_fact_that_is_looked_for_has_a_home(house: ModuleType) -> None:
    modules = [path.read_text("utf-8") for path in house.written(".py", ".html")]
    homeless = {fact for fact, looks in house.HOMES.items() if not any(map(looks.search, modules))}
    # These are libraries' business.
    assert homeless <= {"escaping for HTML", "drawing"}


def test_second_homes_and_repeated_lines_are_seen(
    house: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "\n".join(f"value_{number} = {number} + offset" for number in range(12))
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(
            f"from difflib import get_close_matches\n{lines}\n", "utf-8"
        )
    monkeypatch.setattr(house, "PACKAGE", tmp_path)
    paths = house.written(".py")
    assert house.second_homes(paths) == ["did you mean: one.py, two.py"]
    assert house.repeated(paths) == ["one.py:2 = two.py:2"]
