"""``perceptron-nlp evaluate --report``."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.analysis import figures
from tests.oracles.pages import Page


@pytest.fixture(autouse=True)
def quick_pngs(monkeypatch: pytest.MonkeyPatch) -> None:
    """PNGs take long to draw, and have a test of their own."""
    monkeypatch.setattr(figures, "png", lambda drawn: b"\x89PNG")


def test_the_page_is_written_and_what_is_printed_stays_the_same(
    cli, model: Path, train_file: Path
) -> None:
    plain = cli("evaluate", model, train_file)
    outcome = cli("evaluate", model, train_file, "--report", "r")
    assert (outcome.status, outcome.out) == (0, plain.out)
    said = outcome.err.splitlines()
    assert said[0] == "train.conllu: read as conllu"
    size = os.path.getsize("r/index.html")
    assert said[1] == (f"{Path('r/index.html')}: {size:,} bytes, and 6 pictures")
    assert "Accuracy of en.model" in Path("r/index.html").read_text("utf-8")


def test_json_and_the_page_agree(cli, model: Path, train_file: Path) -> None:
    outcome = cli("evaluate", model, train_file, "--report", "r", "--to", "json", "--quiet")
    found = json.loads(outcome.out)
    assert (found, outcome.err) == (pn.load(model).evaluate(train_file).to_dict(), "")
    (column,) = Page(Path("r/index.html").read_text("utf-8")).data("figures")["columns"]
    assert {name: column[name] for name in found} == found


def test_several_columns_are_printed_and_written(cli) -> None:
    Path("t.columns").write_text("the A X\ncat B Y\n\n" * 3)
    pn.train("t.columns", fields=["form", "one", "two"], column=["one", "two"], epochs=2).save(
        "two.model"
    )
    options = ["--fields", "form,one,two", "--quiet"]
    plain = cli("evaluate", "two.model", "t.columns", "--to", "json", *options)
    both = cli("evaluate", "two.model", "t.columns", "--to", "json", *options, "--report", "r")
    assert json.loads(both.out) == json.loads(plain.out)
    assert len(json.loads(both.out)["columns"]) == 2
    one = cli(
        "evaluate",
        "two.model",
        "t.columns",
        "--to",
        "json",
        *options,
        "--report",
        "r",
        "--column",
        "two",
    )
    assert json.loads(one.out)["column"] == "two"


def test_without_matplotlib_a_report_is_refused_with_the_extra(
    model: Path, train_file: Path, refuses: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    message = refuses("evaluate", model, train_file, "--quiet", "--report", "r")
    assert message == 'matplotlib is not installed: pip install "perceptron-nlp[report]"'
    assert not Path("r").exists()
