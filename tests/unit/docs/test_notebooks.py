"""The notebooks run, and print what they are kept with."""

from __future__ import annotations

import copy
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]

pytestmark = [
    pytest.mark.skipif(
        not (ROOT / "data").is_dir(), reason="the sample corpus is not beside the tests"
    ),
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture
def notebooks() -> ModuleType:
    for name in ("nbclient", "ipykernel"):
        pytest.importorskip(name, reason="notebooks are run with the extra notebooks")
    pytest.importorskip("matplotlib", reason="a notebook draws with the extra plot")
    place = ROOT / "docs" / "_ext" / "notebooks.py"
    spec = importlib.util.spec_from_file_location("notebooks", place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_three_notebooks_run_and_print_what_they_show(
    notebooks: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    kept = notebooks.read()
    assert len(kept) == 3
    found = copy.deepcopy(kept)
    notebooks.run(found)
    for path, book in kept.items():
        shown = notebooks.printed(book)
        assert sum(map(bool, shown)) >= 4, path.name
        assert notebooks.printed(found[path]) == shown, path.name


def test_notebooks_name_no_machine() -> None:
    for path in (ROOT / "docs" / "notebooks").glob("*.ipynb"):
        text = path.read_text("utf-8")
        assert not re.search(r"/(home|root)/", text) and str(ROOT) not in text
