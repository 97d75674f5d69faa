"""The page of training options says what their declarations say."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
MAKER = ROOT / "docs" / "_ext" / "options.py"


@pytest.mark.skipif(not MAKER.exists(), reason="the documentation is not beside the tests")
def test_the_page_is_the_one_that_the_declarations_make() -> None:
    spec = importlib.util.spec_from_file_location("options", MAKER)
    assert spec is not None and spec.loader is not None
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    assert maker.PAGE.read_text("utf-8") == maker.page()
