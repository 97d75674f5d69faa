"""``perceptron-nlp compress``, ``train --size`` and ``tag --mmap``."""

from __future__ import annotations

from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.cli.main import main

TEXT = "The/DET old/ADJ man/NOUN boards/VERB\nthe/DET ferry/NOUN stops/VERB here/ADV\n" * 6


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text(TEXT)
    assert (
        main(
            [
                "train",
                str(tmp_path / "a.txt"),
                "--model",
                str(tmp_path / "a.model"),
                "--epochs",
                "2",
                "--quiet",
            ]
        )
        == 0
    )
    return tmp_path


def test_a_model_is_compressed_and_the_cost_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = (folder / "a.model").stat().st_size
    assert (
        main(
            [
                "compress",
                str(folder / "a.model"),
                "--size",
                str(whole - 1),
                "--dev",
                str(folder / "a.txt"),
                "-o",
                str(folder / "b.model"),
            ]
        )
        == 0
    )
    said = capsys.readouterr().err
    size = (folder / "b.model").stat().st_size
    assert size < whole
    assert f"compressed: {whole:,} bytes to {size:,}, " in said
    assert "dev accuracy 100.00 % before, 100.00 % now" in said
    assert pn.load(folder / "b.model").tag(["The", "man"]) == ["DET", "NOUN"]


def test_training_with_a_size_keeps_to_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = (folder / "a.model").stat().st_size
    assert (
        main(
            [
                "train",
                str(folder / "a.txt"),
                "--dev",
                str(folder / "a.txt"),
                "--epochs",
                "2",
                "--size",
                f"{whole / 1000 - 0.2:.3f}kB",
                "--model",
                str(folder / "c.model"),
            ]
        )
        == 0
    )
    assert (folder / "c.model").stat().st_size < whole
    assert "compressed: " in capsys.readouterr().err


def test_a_model_that_fits_is_written_as_it_is(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(
            [
                "compress",
                str(folder / "a.model"),
                "--force",
                "--size",
                "1MB",
                "-o",
                str(folder / "b.model"),
            ]
        )
        == 0
    )
    assert "fit as they are" in capsys.readouterr().err
    assert (folder / "b.model").read_bytes() == (folder / "a.model").read_bytes()


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ("10", "--size: 10 bytes are too few for this model"),
        ("much", "is not a"),
        ("0", "less than one byte"),
    ],
)
def test_a_size_that_cannot_be_is_an_error_in_a_line(
    size: str, message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(
            [
                "compress",
                str(folder / "a.model"),
                "--force",
                "--size",
                size,
                "-o",
                str(folder / "b.model"),
            ]
        )
        == 2
    )
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1
    assert not (folder / "b.model").exists()


def test_mapped_and_read_models_tag_the_same(
    folder: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    (folder / "t.txt").write_text("The man stops\n")
    texts = []
    for options in ([], ["--mmap"]):
        assert (
            main(
                [
                    "tag",
                    str(folder / "a.model"),
                    str(folder / "t.txt"),
                    "--format",
                    "text",
                    "--quiet",
                    *options,
                ]
            )
            == 0
        )
        texts.append(capsysbinary.readouterr().out)
    assert texts[0] == texts[1] and texts[0].startswith(b"The/DET man/NOUN")


def test_a_model_is_not_written_to_a_file_named_like_standard_output(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compress", str(folder / "a.model"), "--force", "--size", "1MB", "-o", "-"]) == 2
    assert "not written to standard output" in capsys.readouterr().err
    assert not Path("-").exists()


def test_what_a_size_costs_is_compared_on_raw_text_unless_it_is_forced(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "raw.txt").write_text("The old man boards\nthe ferry stops here\n")
    model, made = str(folder / "a.model"), str(folder / "b.model")
    how = ["compress", model, "-o", made, "--raw", str(folder / "raw.txt")]
    assert main([*how, "--size", "2900"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("perceptron-nlp: --size: 2,900 bytes cost ")
    assert said.endswith(": name these, or force it\n") and not Path(made).exists()
    whole = Path(model).stat().st_size
    assert main([*how, "--size", str(whole - 1)]) == 0
    assert "; 100.00 % of the labels as before" in capsys.readouterr().err
    assert main(["compress", model, "-o", made, "--size", "2900", "--force"]) == 0
    assert "labels as before" not in capsys.readouterr().err
    assert main(["compress", model, "-o", made, "--size", "2900"]) == 2
    assert "of whose words the model knows" in capsys.readouterr().err


def test_a_name_after_raw_text_is_a_labeled_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "raw.txt").write_text("The old man boards\n")
    raw, train = str(folder / "raw.txt"), str(folder / "a.txt")
    how = ["--epochs", "1", "--quiet", "--model", str(folder / "c.model")]
    assert main(["train", "--raw", raw, train, *how]) == 0
    assert main(["train", "--raw", raw, "--raw", raw, train, *how]) == 0
    assert capsys.readouterr().err == ""
