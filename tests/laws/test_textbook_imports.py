"""The textbook stands on its own: it shares no code with what it is the oracle of."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import perceptron_nlp.perceptrons

FOLDER = Path(perceptron_nlp.perceptrons.__file__).parent
MODULES = sorted((FOLDER / "textbook").glob("*.py"))
ALLOWED = (
    "perceptron_nlp.errors",
    "perceptron_nlp.sampling",
    "perceptron_nlp._checks",
    "perceptron_nlp.perceptrons.textbook",
)


def ours(path: Path) -> set[str]:
    """The modules of this library that a file imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module is not None
            found.add(node.module)
    return {name for name in found if name.split(".")[0] == "perceptron_nlp"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_the_textbook_imports_neither_the_core_nor_the_fast_classifier(path: Path) -> None:
    assert all(name.startswith(ALLOWED) for name in ours(path))


@pytest.mark.parametrize("path", [FOLDER.parent / "sampling.py", FOLDER / "textbook/schedule.py"])
def test_sampling_and_schedules_need_errors_and_checks_only(path: Path) -> None:
    assert ours(path) <= {"perceptron_nlp.errors", "perceptron_nlp._checks"}
