"""``perceptron-nlp train``."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.cli.main import main


def record(path: str) -> dict:
    return dict(pn.read_model(path).record)


def test_the_model_is_the_one_that_python_trains(cli, train_file: Path) -> None:
    assert cli("train", train_file, "--model", "a.model", "--epochs", "3").status == 0
    pn.train(train_file, epochs=3).save("b.model")
    assert Path("a.model").read_bytes() == Path("b.model").read_bytes()


def test_a_preset_can_be_had_and_overridden(cli, train_file: Path) -> None:
    outcome = cli(
        f"train {train_file} --model a.model --preset accurate --runs 2 --cost 0.5 "
        "--no-right-to-left --epochs 2"
    )
    assert outcome.status == 0
    options = record("a.model")["options"]
    assert (options["preset"], options["beam"], options["runs"]) == ("accurate", 4, 2)
    assert (options["cost"], options["right_to_left"]) == (0.5, False)
    assert "run 2/2, epoch 1/2: train " in outcome.err
    assert pn.load("a.model").model.beam == 4


@pytest.mark.parametrize(("options", "times"), [((), 1), (("--preset", "fast"), 0), (("-q",), 0)])
def test_the_default_preset_ends_with_what_accurate_would_give(
    cli, train_file: Path, options: tuple[str, ...], times: int
) -> None:
    outcome = cli("train", train_file, "--model", "a.model", "--epochs", "1", *options)
    lines = outcome.err.splitlines()
    assert sum(line.startswith("--preset accurate: ") for line in lines[-1:]) == times


@pytest.mark.parametrize(
    ("options", "times"), [((), 1), (("--preset", "fast"), 1), (("--learn-dev",), 0), (("-q",), 0)]
)
def test_a_training_by_a_dev_set_ends_with_how_to_learn_that_too(
    cli, train_file: Path, options: tuple[str, ...], times: int
) -> None:
    outcome = cli("train", train_file, "--model", "a.model", "--epochs", "1", *options)
    assert "--learn-dev: " not in outcome.err
    outcome = cli(
        "train", train_file, "--dev", train_file, "--model", "a.model", "--epochs", "1", *options
    )
    lines = outcome.err.splitlines()
    assert sum(line.startswith("--learn-dev: ") for line in lines[-1:]) == times


def test_a_bound_on_memory_changes_no_byte(cli, train_file: Path) -> None:
    plain = cli("train", train_file, "--model", "a.model", "--epochs", "2")
    bounded = cli(
        "train", train_file, "--model", "b.model", "--epochs", "2", "--max-memory", "100GB"
    )
    assert (plain.status, bounded.status) == (0, 0)
    assert Path("a.model").read_bytes() == Path("b.model").read_bytes()
    assert bounded.err == plain.err.replace("a.model", "b.model")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--max-memory", "much"], "--max-memory: 'much' is not a size such as 400kB or 1.1MB"),
        (["--max-memory", "1kB"], "--max-memory: 1 MB are too few: this process holds "),
        (
            ["--max-memory", "100GB", "--size", "9kB"],
            "--max-memory: a tagger that is compressed into a size cannot have it",
        ),
    ],
)
def test_a_bound_that_cannot_be_held_is_refused(
    cli, train_file: Path, arguments: list[str], message: str
) -> None:
    outcome = cli("train", train_file, "--model", "a.model", "--quiet", *arguments)
    assert outcome.status == 2
    assert outcome.message.startswith(f"perceptron-nlp: {message}")
    assert not Path("a.model").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--preset", "acurate"], "--preset: 'acurate' is not one of fast, default, accurate"),
        (["--cost", "much"], "argument --cost: 'much' is not a number"),
        (["--beam", "0"], "--beam: 0 is not between 1 and 64"),
        (["--runs", "0"], "--runs: 0 is not between 1 and 1,000"),
    ],
)
def test_a_search_that_cannot_be_made_is_refused(
    cli, train_file: Path, arguments: list[str], message: str
) -> None:
    outcome = cli("train", train_file, "--model", "a.model", *arguments)
    assert outcome.status == 2
    assert outcome.err.startswith(f"perceptron-nlp: {message}")
    assert outcome.err.count("\n") == 1
    assert not Path("a.model").exists()


def test_every_option_reaches_the_training(cli, train_file: Path) -> None:
    Path("mine.txt").write_text("lower[0]\nlower[-1]\ntag[-1]\n")
    outcome = cli(
        f"train {train_file} --dev {train_file} --model all.model --column upos --epochs 7 "
        "--seed 9 --update adagrad --templates mine.txt --table-bits 10 --min-count 2 "
        "--dictionary 2:0.9 --patience 3 --right-to-left --format conllu --quiet"
    )
    assert (outcome.status, outcome.out, outcome.err) == (0, b"", "")
    assert (
        record("all.model")["options"]
        == pn.TrainingOptions(
            epochs=7,
            seed=9,
            update="adagrad",
            table_bits=10,
            min_count=2,
            dictionary=(2, 0.9),
            patience=3,
            right_to_left=True,
            beam=1,
        ).record()
    )
    model = pn.read_model("all.model")
    assert [str(template) for template in model.templates] == ["lower[0]", "lower[-1]", "tag[-1]"]
    assert model.dictionary["."] == "PUNCT"
    assert record("all.model")["dev"]["tokens"] == record("all.model")["train"]["tokens"]


def test_without_options_the_defaults_are_those_of_python(cli, train_file: Path) -> None:
    cli("train", train_file, "--model", "a.model")
    assert record("a.model")["options"] == pn.train(train_file).model.record["options"]


def test_several_files_packed_or_not_are_learnt_from(cli, train_file: Path) -> None:
    Path("more.conllu.gz").write_bytes(gzip.compress(train_file.read_bytes()))
    outcome = cli("train", train_file, "more.conllu.gz", "--model", "a.model", "--epochs", "1")
    assert outcome.status == 0
    assert record("a.model")["train"]["sentences"] == 10
    assert "train.conllu: read as conllu\nmore.conllu.gz: read as conllu\n" in outcome.err


def test_standard_input_is_learnt_from(cli, train_file: Path) -> None:
    data = train_file.read_bytes()
    assert cli("train", "-", "--model", "a.model", "--epochs", "2", stdin=data).status == 0
    cli("train", train_file, "--model", "b.model", "--epochs", "2")
    assert Path("a.model").read_bytes() == Path("b.model").read_bytes()


def test_named_columns_are_evidence(cli) -> None:
    Path("chunks.txt").write_text("dogs NNS B-NP\nbark VBP B-VP\n\ncats NNS B-NP\n")
    outcome = cli("train chunks.txt --model c.model --fields form,xpos,chunk --column chunk")
    assert outcome.status == 0
    model = pn.read_model("c.model")
    assert (model.column, model.feature_columns) == ("chunk", ("xpos",))


def test_a_column_called_underscore_is_left_out(cli) -> None:
    Path("chunks.txt").write_text("1 dogs NNS B-NP\n2 bark VBP B-VP\n\n1 cats NNS B-NP\n")
    outcome = cli("train", "chunks.txt", "--model", "c.model", "--fields", "_,form,xpos,chunk")
    assert outcome.status == 0, outcome.err
    model = pn.read_model("c.model")
    assert (model.column, model.feature_columns) == ("chunk", ("xpos",))


def test_many_files_are_named_in_one_line(cli) -> None:
    for number in range(12):
        Path(f"{number:02}.txt").write_text("Dogs/NOUN bark/VERB\n")
    files = sorted(Path().glob("*.txt"))
    outcome = cli("train", *files, "--model", "m.model", "--epochs", "1")
    assert outcome.err.splitlines()[0] == "00.txt and 11 more: read as tagged"


def test_words_without_a_label_are_counted(cli, train_file: Path) -> None:
    text = train_file.read_text("utf-8").replace("\tPUNCT\t", "\t_\t")
    train_file.write_text(text, "utf-8")
    outcome = cli("train", train_file, "--model", "m.model", "--epochs", "1")
    assert "\ntrain: 4 of 21 tokens have no upos and were left out\n" in outcome.err


def test_progress_is_a_line_an_epoch_where_there_is_no_terminal(cli, train_file: Path) -> None:
    outcome = cli("train", train_file, "--dev", train_file, "--model", "m.model", "--epochs", "2")
    lines = [line for line in outcome.err.splitlines() if line.startswith("epoch")]
    assert [line.split(":")[0] for line in lines] == ["epoch 1/2", "epoch 2/2"]
    assert all("train" in line and "dev" in line for line in lines)
    assert "\x1b" not in outcome.err
    assert outcome.out == b""


class TerminalStream(io.StringIO):
    """A stream that says that it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def drawn(train_file: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    stream = TerminalStream()
    monkeypatch.setattr(sys, "stderr", stream)
    assert (
        main(
            [
                "train",
                str(train_file),
                "--dev",
                str(train_file),
                "--model",
                "m.model",
                "--epochs",
                "3",
            ]
        )
        == 0
    )
    return stream.getvalue()


def test_a_terminal_gets_a_curve_drawn_over_itself(
    train_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = drawn(train_file, monkeypatch)
    assert text.count("\x1b[3F") == 2
    assert "epoch 3 of 3" in text
    assert "\x1b[32m" in text


def test_no_color_leaves_the_curve_without_colour(
    train_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    text = drawn(train_file, monkeypatch)
    assert "\x1b[3F" in text
    assert "\x1b[32m" not in text


def test_a_dumb_terminal_gets_plain_lines(
    train_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    text = drawn(train_file, monkeypatch)
    assert "\x1b" not in text
    assert "\nepoch 3/3: train" in text


def test_a_reader_of_messages_that_leaves_stops_no_training(train_file: Path, process) -> None:
    deaf = ("sh", "-c", 'exec "$@" 2> /dev/full', "sh")
    done = process("train", train_file, "--model", "m.model", "--epochs", "2", before=deaf)
    assert done.returncode == 0
    assert record("m.model")["best_epoch"] == 2


def test_workers_are_those_of_an_engine_that_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "train.conllu"
    pn.write_conllu([pn.Sentence(["a"], {"upos": ["X"]})], path)
    command = ["train", str(path), "--model", str(tmp_path / "m.model")]
    for more, said in (
        (["--workers", "2"], "--workers: is an option of an engine; name one, too: --engine ray"),
        (["--engine", "rey"], "--engine: 'rey' is not one of ray; did you mean ray"),
    ):
        assert main([*command, *more]) == 2
        assert said in capsys.readouterr().err
    assert not (tmp_path / "m.model").exists()
