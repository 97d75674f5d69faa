"""Models of column files know what their columns are called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import perceptron_nlp as pn

ROWS = ["We PRP B-NP", "saw VBD O", "the DT B-NP", "house NN I-NP", ""] * 3
FIELDS = "form,xpos,chunk"


@pytest.fixture
def columns(cli) -> Path:
    """``chunk.model``, trained on ``c.txt``, which is given back."""
    Path("c.txt").write_text("\n".join(ROWS) + "\n")
    made = cli(
        *("train", "c.txt", "--fields", FIELDS, "--column", "chunk", "--model", "chunk.model"),
        *("--epochs", "2", "--resumable", "--quiet"),
    )
    assert made.status == 0, made.err
    return Path("c.txt")


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", "chunk.model", "c.txt", "--to", "json"),
        ("tag", "chunk.model", "c.txt"),
        ("explain", "chunk.model", "c.txt", "--top", "1"),
        ("inspect", "chunk.model", "--dev", "c.txt", "--to", "json"),
        ("compare", "chunk.model", "chunk.model", "c.txt", "--to", "json"),
    ],
)
def test_the_names_of_the_training_are_those_of_files_with_as_many_columns(
    cli, columns: Path, arguments: tuple[str, ...]
) -> None:
    named = cli(*arguments, "--fields", FIELDS)
    unnamed = cli(*arguments)
    assert (unnamed.status, unnamed.out) == (0, named.out)
    if arguments[0] in ("evaluate", "tag", "explain"):
        assert f"c.txt: --fields {FIELDS}, as the model was trained with\n" in unnamed.err
    assert "as the model was trained" not in cli(*arguments, "--quiet").err + named.err


def test_other_files_and_names_that_are_given_stay_as_they_are(cli, refuses, columns: Path) -> None:
    Path("two.txt").write_text("We PRP\nsaw VBD\n")
    assert "no column 'xpos'" in refuses("tag", "chunk.model", "two.txt", "--quiet")
    assert "no column" in refuses(
        "evaluate", "chunk.model", columns, "--fields", "form,a,b", "--quiet"
    )


def test_the_names_outlive_resuming_merging_and_left_out_columns(cli, columns: Path) -> None:
    again = cli(
        "resume", "chunk.model", columns, "--model", "more.model", "--epochs", "1", "--quiet"
    )
    assert again.status == 0, again.err
    assert pn.load("more.model").model.fields == ("form", "xpos", "chunk")
    merged = pn.merge(["chunk.model", "chunk.model"])
    assert merged.evaluate(columns).column == "chunk"
    left = pn.train(columns, fields=["form", "_", "chunk"], epochs=1)
    assert left.evaluate(columns).to_dict() == left.evaluate(columns, column="3").to_dict()
    assert "fields" not in pn.train([(["a"], ["X"])], epochs=1).model.record
    record = json.loads(cli("inspect", "chunk.model", "--to", "json").out)["record"]
    assert record["fields"] == FIELDS.split(",")
