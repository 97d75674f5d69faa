"""The walk through weights.pxd: its excerpts are in the file, its table is what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "lecture.md"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not here")


def test_each_excerpt_is_one_stretch_of_the_file_that_names_the_function_it_is_about() -> None:
    text = PAGE.read_text("utf-8")
    found = re.findall(
        r'{literalinclude} (\S+)\n:language: cython\n:start-at: "(.+)"\n:end-before: "(.+)"', text
    )
    assert len(found) == 5
    for path, start, end in found:
        source = (PAGE.parent / path).read_text("utf-8")
        assert source.count(start) == source.count(end) == 1, start
        excerpt = source[source.index(start) : source.index(end)]
        assert 2 < excerpt.count("\n") < 16


def test_the_table_is_the_rule_applied_by_hand() -> None:
    text = PAGE.read_text("utf-8")
    rows = re.findall(r"^\| (\d+) \|.*\| (\d+) \| (\d+) \| (\d+) \|$", text, re.M)
    assert [int(row[0]) for row in rows] == [0, 3, 7, 10]
    weight = total = last = 0
    for done, *shown in (map(int, row) for row in rows[1:3]):
        total, last = total + (done - last) * weight, done
        weight += 1
        assert shown == [weight, total, last]
    assert (total + (10 - last) * weight) / 10 == 1


def test_every_answer_is_run() -> None:
    exercises = PAGE.read_text("utf-8").partition("\n## Exercises")[2]
    assert re.findall(r"^\*\*(\d)\.", exercises, re.M) == ["1", "2", "3"]
    answers = exercises.split("<details>")[1:]
    assert all("```python" in answer and "  # " in answer for answer in answers)
