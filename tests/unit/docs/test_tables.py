"""Tables of the documentation stand beside the command that prints them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[3] / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "notebooks" not in path.parts)
# No version: 0.20.1.
FIGURE = re.compile(r"(?<![\w.])\d*\.\d+(?![\d.])|\d %")
COMMAND = re.compile(r"\bpython (benchmarks|scripts)/\w+\.py|\bmake [a-z]+|perceptron-nlp [a-z]+ ")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
# A weight is averaged by hand there.
BY_HAND = {"lecture.md"}


def sections(text: str) -> Iterator[str]:
    """The text under each heading; lines of a fence are none."""
    masked = FENCE.sub(lambda block: re.sub(r"(?m)^#", " ", block[0]), text)
    yield from re.split(r"(?m)^(?=#+ )", masked)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_figures_stand_beside_the_command_that_prints_them(page: Path) -> None:
    if page.name in BY_HAND:
        return
    for section in sections(page.read_text("utf-8")):
        rows = [line for line in section.split("\n") if line.lstrip().startswith("|")]
        if len(FIGURE.findall("\n".join(rows))) >= 6:
            assert COMMAND.search(section), section.partition("\n")[0]


def test_a_table_without_a_command_is_noticed() -> None:
    (_, one) = sections("text\n# Head\n```sh\n# comment\n```\n| 1.5 | 2.5 | 0.20.1 |\n")
    assert one.startswith("# Head") and len(FIGURE.findall(one)) == 2
    assert not COMMAND.search(one) and COMMAND.search("`python benchmarks/small.py`")
