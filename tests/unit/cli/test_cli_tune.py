"""``perceptron-nlp tune``."""

from __future__ import annotations

import json
import shlex
import signal
import sys
import time
from pathlib import Path

import pytest

import perceptron_nlp as pn
from tests.unit.cli.conftest import Screen

QUICK = ["--epochs", "2", "--try", "templates=fast,classic"]


@pytest.fixture
def dev_file(train_file: Path) -> Path:
    """``dev set.conllu``, labeled, with a name that a shell would split."""
    path = Path("dev set.conllu")
    path.write_bytes(train_file.read_bytes().replace(b"\tdog\t", b"\tfox\t"))
    return path


def test_the_printed_command_trains_the_tagger_that_was_measured(
    cli, train_file: Path, dev_file: Path
) -> None:
    outcome = cli(
        "tune",
        train_file,
        "--dev",
        dev_file,
        *QUICK,
        "--column",
        "upos",
        "--model",
        "my best.model",
        "--try",
        "right-to-left=no",
        "--dictionary",
        "9:0.9",
    )
    command = outcome.out.decode().splitlines()[-1]
    words = shlex.split(command)
    assert words[:5] == ["perceptron-nlp", "train", "train.conllu", "--dev", "dev set.conllu"]
    assert cli(*words[1:]).status == 0
    found = json.loads(cli("evaluate", "my best.model", dev_file, "--to", "json").out)
    assert f"expected  {100 * found['accuracy']:.2f} %" in outcome.out.decode()


def test_every_kind_of_option_is_written_into_the_command(
    cli, train_file: Path, dev_file: Path
) -> None:
    Path("my list.txt").write_text("lower[0]\ntag[-1]\n")
    fixed = [
        "--no-right-to-left",
        "--dictionary",
        "9:0.9",
        "--templates",
        "my list.txt",
        "--beam",
        "2",
        "--rate",
        "0.05",
        "--format",
        "conllu",
        "--column",
        "xpos",
        "--seed",
        "7",
    ]
    for path in (train_file, dev_file):
        path.write_text(path.read_text().replace("\t_\t_\t_\t_\t_\t", "\tX\t_\t_\t_\t_\t"))
    outcome = cli(
        "tune",
        train_file,
        "--dev",
        dev_file,
        *fixed,
        "--try",
        "min-count=2",
        "--quiet",
        "--epochs",
        "1",
    )
    assert outcome.err == ""
    words = shlex.split(outcome.out.decode().splitlines()[-1])
    pairs = {words[i]: words[i + 1] for i in range(len(words) - 1)}
    assert "--no-right-to-left" in words
    assert {
        pairs[name]
        for name in (
            "--dictionary",
            "--templates",
            "--beam",
            "--rate",
            "--format",
            "--column",
            "--seed",
            "--epochs",
        )
    } == {"9:0.9", "my list.txt", "2", "0.05", "conllu", "xpos", "7", "1"}
    assert cli(*words[1:]).status == 0


def test_json_holds_what_python_says_and_the_command(cli, train_file: Path) -> None:
    found = json.loads(cli("tune", train_file, "--folds", "2", *QUICK, "--to", "json").out)
    assert found.pop("command").startswith("perceptron-nlp train train.conllu --model tuned.model")
    assert (
        found
        == pn.tune(
            train_file, folds=2, epochs=2, space={"templates": ["fast", "classic"]}
        ).to_dict()
    )


def test_the_same_command_goes_on_from_its_state(cli, train_file: Path) -> None:
    command = ["tune", train_file, "--folds", "2", *QUICK]
    whole = cli(*command).out
    assert cli(*command, "--state", "s.json", "--trials", "1").status == 0
    assert cli(*command, "--state", "s.json").out == whole
    kept = Path("s.json").read_bytes()
    assert cli(*command, "--state", "s.json").out == whole
    assert Path("s.json").read_bytes() == kept


def test_ctrl_c_says_how_to_go_on(train_file: Path, started) -> None:
    process = started(
        "tune",
        str(train_file),
        "--folds",
        "2",
        "--epochs",
        "300",
        "--try",
        "templates=fast,classic,default",
        "--state",
        "s.json",
    )
    while process.poll() is None:
        if Path("s.json").exists() and b'"accuracy"' in Path("s.json").read_bytes():
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert err.decode().splitlines()[-1] == (
        "perceptron-nlp: interrupted; what was measured is kept in s.json; the same command goes on"
    )
    assert b'"accuracy"' in Path("s.json").read_bytes()


def test_a_terminal_sees_how_many_trials_are_done_and_others_a_line_a_trial(
    cli, train_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["tune", train_file, "--folds", "2", *QUICK]
    plain = cli(*command)
    lines = [line.split(":")[0] for line in plain.err.splitlines()[1:]]
    assert lines == ["trial 1", "trial 2", "trial 3"]
    monkeypatch.setattr(sys, "stderr", screen := Screen())
    assert cli(*command).out == plain.out
    shown = screen.getvalue()
    assert "trial 1 of 3, " in shown
    # What is drawn over is erased before the next message and at the end.
    assert shown.endswith("\r\x1b[2K")
    assert shown.replace("\r\x1b[2K", "\n").count("\ntrial 2: ") == 1


def test_a_state_of_another_search_is_refused(cli, refuses, train_file: Path) -> None:
    command = ["tune", train_file, "--folds", "2", *QUICK, "--state", "s.json", "--quiet"]
    assert cli(*command).status == 0
    assert refuses(*command, "--seed", "2").startswith(
        "--state: s.json is of a search with other data or options"
    )
    Path("s.json").write_text("{}")
    assert refuses(*command).startswith("s.json: not the state of a tuning")
