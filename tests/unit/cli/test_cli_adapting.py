"""``merge`` and ``resume`` on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import perceptron_nlp as pn
from tests.unit.cli.conftest import TAGGED, Run, conllu

Refuses = Callable[..., str]


@pytest.fixture
def halves() -> tuple[Path, Path]:
    """``a.conllu`` and ``b.conllu``."""
    paths = Path("a.conllu"), Path("b.conllu")
    for path, sentences in zip(paths, (TAGGED[:3], TAGGED[2:]), strict=True):
        path.write_text(conllu(sentences), "utf-8")
    return paths


def trained(cli: Run, path: Path, model: str, *options: str) -> None:
    assert (
        cli(
            "train",
            path,
            "--model",
            model,
            "--templates",
            "fast",
            "--epochs",
            "2",
            "--quiet",
            *options,
        ).status
        == 0
    )


def test_resume_goes_on_with_a_model_that_was_trained_to_be_resumable(
    cli: Run, halves: tuple[Path, Path]
) -> None:
    trained(cli, halves[0], "half.model", "--resumable")
    trained(cli, halves[0], "whole.model", "--resumable", "--epochs", "4")
    outcome = cli("resume", "half.model", halves[0], "--model", "more.model")
    assert outcome.status == 0
    assert "epoch 2/2" in outcome.err and "more.model: " in outcome.err
    more, whole = pn.load("more.model"), pn.load("whole.model")
    assert more.model.weights.weights.tobytes() == whole.model.weights.weights.tobytes()
    assert (
        cli(
            "resume",
            "more.model",
            halves[1],
            "--dev",
            halves[0],
            "--epochs",
            "3",
            "--average",
            "new",
            "--model",
            "last.model",
            "--quiet",
        ).err
        == ""
    )
    found = json.loads(cli("inspect", "last.model", "--to", "json").out)
    assert found["record"]["before"]["before"]["train"]["sentences"] == 3
    assert cli("inspect", "last.model").status == 0


def test_merge_makes_one_model_of_several(cli: Run, halves: tuple[Path, Path]) -> None:
    for path, name in zip(halves, ("a.model", "b.model"), strict=True):
        trained(cli, path, name)
    outcome = cli("merge", "a.model", "b.model", "--weights", "2,1", "--model", "ab.model")
    assert outcome.status == 0
    assert outcome.message.startswith("ab.model: 2 models, ")
    expected = pn.merge(["b.model", "a.model"], weights=[1, 2]).to_bytes()
    assert Path("ab.model").read_bytes() == expected
    assert cli("merge", "b.model", "--model", "b2.model").message.startswith("b2.model: 1 model, ")
    text = cli("inspect", "ab.model").out.decode()
    assert "merged of 2 models" in text and "2.0000" in text
    assert cli("tag", "ab.model", halves[0]).status == 0


def test_what_cannot_be_merged_is_refused(
    cli: Run, refuses: Refuses, train_file: Path, model: Path
) -> None:
    trained(cli, train_file, "fast.model")
    message = refuses("merge", model, "fast.model", "--model", "x.model")
    assert "templates" in message and "fast.model" in message
    assert "--weights" in refuses("merge", model, model, "--weights", "1", "--model", "x.model")
    assert "not numbers" in refuses("merge", model, model, "--weights", "1;2", "--model", "x")
    assert "overwritten" in refuses("merge", model, model, "--model", model)
    assert "standard output" in refuses("merge", model, "--model", "-")
    assert "no such file" in refuses("merge", model, "no.model", "--model", "x.model")
