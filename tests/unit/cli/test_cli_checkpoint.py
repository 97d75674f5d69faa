"""Checkpoints on the command line: saved on Ctrl-C, gone on from, never overwritten."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

import perceptron_nlp as pn


def test_ctrl_c_saves_and_says_how_to_go_on(cli, train_file: Path, started) -> None:
    options = ["--epochs", "3000", "--templates", "fast"]
    process = started(
        "train", str(train_file), "--model", "a.model", "--checkpoint", "state", *options
    )
    while not Path("state").exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert err.decode().splitlines()[-1] == (
        "perceptron-nlp: interrupted; the training up to its last whole epoch is saved in state;"
        " the same command with --resume goes on"
    )
    assert not Path("a.model").exists()


def test_a_resumed_training_writes_the_same_file(cli, train_file: Path) -> None:
    common = ["train", str(train_file), "--quiet", "--epochs", "3"]
    assert cli(*common, "--model", "whole.model").status == 0
    assert cli(*common, "--model", "a.model", "--checkpoint", "state", "--every", "2").status == 0
    assert cli(*common, "--model", "b.model", "--checkpoint", "state", "--resume").status == 0
    assert Path("b.model").read_bytes() == Path("whole.model").read_bytes()


def test_bad_checkpoint_options_are_named(refuses, train_file: Path) -> None:
    train = ["train", str(train_file), "--model", "a.model"]
    assert "--resume" in refuses(*train, "--resume")
    assert "--every" in refuses(*train, "--checkpoint", "state", "--every", "often")
    assert "state" in refuses(*train, "--checkpoint", "state", "--resume")
    assert "the model" in refuses(*train, "--checkpoint", "a.model")
    assert train_file.name in refuses(*train, "--checkpoint", str(train_file))
    Path("state").write_bytes(b"precious")
    assert "already" in refuses(*train, "--checkpoint", "state")


def test_an_interruption_between_two_columns_tells_how_to_go_on(
    cli, train_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*arguments: object, **options: object) -> None:
        Path("state").write_bytes(b"of the first column")
        raise KeyboardInterrupt

    monkeypatch.setattr(pn, "train", stopped)
    arguments = ("train", train_file, "--column", "upos,xpos", "--model", "m.model", "--quiet")
    outcome = cli(*arguments, "--checkpoint", "state")
    assert outcome.status == 130 and outcome.err == (
        "perceptron-nlp: interrupted; the training up to its last whole epoch is saved in state;"
        " the same command with --resume goes on\n"
    )
    assert cli(*arguments).err == "perceptron-nlp: interrupted\n"
