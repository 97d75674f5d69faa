"""``perceptron-nlp distill``."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import perceptron_nlp as pn

RAW = "The small wug sleeps .\nShe sees a wug !\n\nWugs run\n"


@pytest.fixture
def raw_file() -> Path:
    """``raw.txt``, a tokenised sentence a line."""
    path = Path("raw.txt")
    path.write_text(RAW, "utf-8")
    return path


def test_the_model_is_the_one_that_python_distils(
    cli, model: Path, train_file: Path, raw_file: Path
) -> None:
    outcome = cli(
        f"distill {model} --raw {raw_file} --train {train_file} --model a.model --epochs 3 "
        "--templates fast --raw-weight 0.5 --threads 2"
    )
    assert (outcome.status, outcome.out) == (0, b"")
    tagger = pn.distill(
        model, raw=raw_file, train=train_file, epochs=3, templates="fast", raw_weight=0.5
    )
    assert Path("a.model").read_bytes() == tagger.to_bytes()
    lines = outcome.err.splitlines()
    assert lines[:2] == ["train.conllu: read as conllu", "labeling the raw text with 1 teacher"]
    assert lines[2].startswith("epoch 1/3: train ")
    assert "chosen: 12 raw tokens, 33.3 % of them new to the teachers" in lines
    assert lines[-1].startswith("a.model: 6 labels, ")


def test_every_option_reaches_the_distillation(
    cli, model: Path, train_file: Path, raw_file: Path
) -> None:
    Path("mine.txt").write_text("lower[0]\ntag[-1]\n")
    Path("more.txt.gz").write_bytes(gzip.compress(RAW.encode()))
    outcome = cli(
        f"distill {model} {model} --raw {raw_file} --raw more.txt.gz --train {train_file} "
        f"--train {train_file} --dev {train_file} --model all.model --column upos --epochs 7 "
        "--seed 9 --templates mine.txt --table-bits 10 --patience 3 --no-right-to-left --runs 2 "
        "--preset fast --raw-share 0.5 --raw-weight 0.25 --format conllu --quiet"
    )
    assert (outcome.status, outcome.out, outcome.err) == (0, b"", "")
    record = pn.read_model("all.model").record
    assert record["raw"]["sentences"] == 6
    assert (record["raw"]["share"], record["raw"]["weight"]) == (0.5, 0.25)
    assert record["train"]["sentences"] == 10
    options = record["options"]
    assert [
        options[name]
        for name in (
            "preset",
            "epochs",
            "seed",
            "table_bits",
            "patience",
            "right_to_left",
            "runs",
            "beam",
        )
    ] == ["fast", 7, 9, 10, 3, False, 2, 1]


def test_a_stopped_distillation_goes_on_from_its_checkpoint(
    cli, model: Path, train_file: Path, raw_file: Path
) -> None:
    words = (
        "distill",
        model,
        "--raw",
        raw_file,
        "--train",
        train_file,
        "--checkpoint",
        "state",
        "--quiet",
        "--templates",
        "fast",
    )
    assert cli(*words, "--model", "a.model", "--epochs", "3").status == 0
    assert cli(*words, "--model", "b.model", "--epochs", "3", "--resume").status == 0
    assert Path("a.model").read_bytes() == Path("b.model").read_bytes()


def test_raw_text_in_another_script_is_warned_of(cli, model: Path, train_file: Path) -> None:
    Path("raw.txt").write_text("Η γάτα κοιμάται .\n", "utf-8")
    outcome = cli(
        f"distill {model} --raw raw.txt --train {train_file} --model a.model --epochs 1 "
        "--templates fast"
    )
    assert outcome.status == 0
    assert "most raw tokens are new to the teachers" in outcome.err


def test_empty_raw_text_is_named_to_whoever_watches(cli, model: Path, train_file: Path) -> None:
    Path("blank.txt").write_text("\n \n", "utf-8")
    outcome = cli("distill", model, "--raw", "blank.txt", "--train", train_file, "--model", "a")
    assert outcome.status == 2
    assert outcome.err.splitlines()[-1] == (
        "perceptron-nlp: blank.txt: there is no sentence in the raw text"
    )


def test_a_link_to_a_teacher_is_not_overwritten(
    refuses: Callable[..., str], model: Path, train_file: Path, raw_file: Path
) -> None:
    os.link(model, "same.model")
    assert "would be overwritten" in refuses(
        f"distill {model} --raw {raw_file} --train {train_file} --model same.model --quiet"
    )


def test_odd_labels_are_told_once_and_not_to_whoever_wants_quiet(
    model: Path, train_file: Path, raw_file: Path, process
) -> None:
    Path("one.conllu").write_text(train_file.read_text("utf-8").split("\n\n")[0] + "\n\n", "utf-8")
    words = (
        "distill",
        model,
        "--raw",
        raw_file,
        "--train",
        "one.conllu",
        "--model",
        "a.model",
        "--epochs",
        "1",
        "--templates",
        "fast",
    )
    assert process(*words, "--quiet").stderr == b""
    assert process(*words).stderr.count(b"are not in the gold sentences") == 1


def test_standard_input_is_read_once(
    cli, refuses: Callable[..., str], model: Path, train_file: Path
) -> None:
    words = (
        "distill",
        model,
        "--model",
        "a.model",
        "--epochs",
        "1",
        "--templates",
        "fast",
        "--quiet",
        "--raw",
        "-",
        "--train",
    )
    assert "named twice" in refuses(*words, "-")
    assert cli(*words, train_file, stdin=RAW.encode()).status == 0


def test_files_of_other_programs_are_learned_from(
    cli, refuses: Callable[..., str], model: Path, train_file: Path
) -> None:
    for name in ("a", "b"):
        assert cli(f"tag {model} {train_file} -o {name}.conllu").status == 0
    words = f"distill --train {train_file} --model c.model --epochs 3 --templates fast"
    outcome = cli(f"{words} --labeled a.conllu --labeled b.conllu --weights 1,0.5")
    assert (outcome.status, outcome.out) == (0, b"")
    tagger = pn.distill(
        labeled=["a.conllu", "b.conllu"],
        weights=[1, 0.5],
        train=train_file,
        epochs=3,
        templates="fast",
    )
    assert Path("c.model").read_bytes() == tagger.to_bytes()
    assert "raw tokens, labeled by 2 files, who agree on 100.0 %\n" in outcome.err
    assert "there are none; name at least one" in refuses(f"{words} --quiet")
    assert "would be overwritten" in refuses(f"{words} --labeled a.conllu --model a.conllu --quiet")
