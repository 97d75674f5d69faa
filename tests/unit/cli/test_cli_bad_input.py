"""Whatever is wrong with the input: one line, its place, status 2, and nothing is lost."""

from __future__ import annotations

import gzip
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

Refuses = Callable[..., str]

GOOD = "1\tdogs\t_\tNOUN\t_\t_\t_\t_\t_\t_\n2\tbark\t_\tVERB\t_\t_\t_\t_\t_\t_\n\n"
READ = ("train", "evaluate", "tag")


@pytest.fixture(params=READ)
def reading(request: pytest.FixtureRequest, refuses: Refuses, model: Path) -> Refuses:
    """Each verb that reads a text, run on a file of which nothing is said but its name."""

    def run(path: object, *more: object) -> str:
        if request.param == "train":
            Path("old.model").write_bytes(b"an old model")
            return refuses("train", path, "--model", "old.model", "--quiet", *more)
        output = ["-o", "old.model"] if request.param == "tag" else []
        if output:
            Path("old.model").write_bytes(b"an old output")
        return refuses(request.param, model, path, *output, "--quiet", *more)

    return run


def test_a_sentence_without_end_is_refused_by_its_line(reading: Refuses) -> None:
    with gzip.open("bad.conllu.gz", "wb") as packed:
        packed.write(GOOD.encode() + b"# a\n" * (5 << 20))
    said = reading("bad.conllu.gz")
    assert said.startswith("bad.conllu.gz:4: a sentence of more than 16 MiB or 524,288 words, ")


def test_a_cut_compressed_file_is_refused(reading: Refuses) -> None:
    Path("cut.conllu.gz").write_bytes(gzip.compress(GOOD.encode() * 50)[:-9])
    assert reading("cut.conllu.gz") == "cut.conllu.gz: the compressed data is cut short"


def test_a_file_that_is_not_compressed_as_it_says_is_refused(reading: Refuses) -> None:
    Path("plain.conllu.gz").write_text(GOOD)
    assert reading("plain.conllu.gz").startswith("plain.conllu.gz: holds no gzip data")


@pytest.fixture(params=["tag", "evaluate", "inspect"])
def loading(request: pytest.FixtureRequest, refuses: Refuses, train_file: Path) -> Refuses:
    """Each verb that loads a model."""

    def run(model: object) -> str:
        texts = [] if request.param == "inspect" else [train_file]
        return refuses(request.param, model, *texts)

    return run


def test_a_model_of_another_program_is_refused(loading: Refuses) -> None:
    Path("other.model").write_bytes(save({"x": np.zeros(3)}, {"format": "pt"}))
    assert loading("other.model").startswith("other.model: ")


@pytest.mark.parametrize("kept", [5, 100, -1])
def test_a_cut_model_is_refused(loading: Refuses, model_bytes: bytes, kept: int) -> None:
    Path("cut.model").write_bytes(model_bytes[:kept])
    assert loading("cut.model").startswith("cut.model: ")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_changed_model_is_refused(loading: Refuses, model_bytes: bytes, share: float) -> None:
    at = int(len(model_bytes) * share)
    changed = model_bytes[:at] + bytes([model_bytes[at] ^ 1]) + model_bytes[at + 1 :]
    Path("changed.model").write_bytes(changed)
    assert loading("changed.model").startswith("changed.model: ")


def test_a_full_disk_keeps_the_old_model(
    process: Callable[..., subprocess.CompletedProcess[bytes]], train_file: Path
) -> None:
    Path("old.model").write_bytes(b"an old model")
    before = sorted(Path().iterdir())
    # A file may grow to one block of 512 or 1024 bytes.
    limited = ("sh", "-c", 'ulimit -f 1; exec "$@"', "sh")
    done = process("train", train_file, "--model", "old.model", "--quiet", before=limited)
    assert done.returncode == 2
    assert done.stderr.startswith(b"perceptron-nlp: old.model: cannot be written: ")
    assert done.stderr.count(b"\n") == 1
    assert Path("old.model").read_bytes() == b"an old model"
    assert sorted(Path().iterdir()) == before


def test_a_number_of_too_many_digits_is_cut_short(refuses: Refuses, train_file: Path) -> None:
    message = refuses("train", train_file, "--model", "m", "--epochs", "9" * 5000)
    assert message.startswith(f"argument --epochs: '{'9' * 58}… is not a whole number")
