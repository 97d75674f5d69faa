"""``perceptron-nlp crossval`` and ``curve``."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.cli.crossval import plot, point_table
from perceptron_nlp.cli.terminal import Progress, Terminal, output

QUICK = ["--epochs", "2", "--preset", "fast"]


def test_crossval_prints_mean_spread_and_pooled_scores(cli, train_file: Path) -> None:
    outcome = cli("crossval", train_file, "--folds", "5", *QUICK)
    found = pn.cross_validate(train_file, folds=5, epochs=2, preset="fast")
    lines = outcome.out.decode().splitlines()
    assert outcome.status == 0
    assert lines[0] == "column upos, accuracy in 5 folds:"
    assert lines[1].startswith(f"{100 * found.mean:.2f} % on average, standard deviation")
    assert f"tokens        {100 * found.pooled.accuracy:6.2f} %  of 21" in lines
    assert "most frequent errors" in lines


def test_crossval_in_json_is_what_python_says(cli, train_file: Path) -> None:
    found = json.loads(cli("crossval", train_file, "--folds", "3", "--json", *QUICK).out)
    assert found == pn.cross_validate(train_file, folds=3, epochs=2, preset="fast").to_dict()


def test_remarks_are_on_standard_error_unless_quiet(cli, train_file: Path) -> None:
    remark = "the text is cut into 5 parts"
    assert remark in cli("crossval", train_file, *QUICK).err
    assert cli("crossval", train_file, "--quiet", *QUICK).err == ""


@pytest.mark.parametrize("verb", ["crossval", "curve"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--folds", "6"], "--folds: 6 is more than the 5 sentences there are"),
        (["--folds", "1"], "--folds: 1 is not between 2 and 1,000"),
        (["--threads", "0"], "--threads: 0 is not between 1 and 1,024"),
        (["--column", "xpos"], "train.conllu: no word has a label in column 'xpos'"),
        (["--column", "nix"], "train.conllu: no column 'nix'"),
        (["--epochs", "0"], "--epochs: 0 is not between 1 and 10,000"),
        (["--size", "1MB"], "unknown option --size"),
        (["missing.conllu"], "missing.conllu: there is no such file"),
    ],
)
def test_bad_input_is_refused_in_a_line(
    refuses, train_file: Path, verb: str, arguments: list[str], message: str
) -> None:
    assert refuses(verb, train_file, "--quiet", *arguments).startswith(message)


@pytest.mark.parametrize("verb", ["crossval", "curve", "tune"])
def test_empty_files_and_single_sentences_are_refused(refuses, verb: str) -> None:
    Path("empty.conllu").touch()
    assert refuses(verb, "empty.conllu", "--quiet") == "empty.conllu: the file is empty"
    Path("one.conllu").write_text("1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n\n")
    message = refuses(verb, "one.conllu", "--quiet")
    assert message.startswith("one.conllu: fewer than two sentences have labels")


def test_a_curve_is_drawn_in_ascii_in_a_pipe(cli, train_file: Path) -> None:
    outcome = cli("curve", train_file, "--test", train_file, *QUICK)
    out = outcome.out.decode()
    lines = out.splitlines()
    assert outcome.status == 0 and out.isascii() and max(map(len, lines)) <= 80
    assert lines[0].endswith(" (* measured, o forecast)")
    assert sum(line.count("*") for line in lines[1:]) == 3
    assert sum(line.count("o") for line in lines[1:13]) == 1
    assert lines[-1].endswith("forecast")


def test_a_curve_fits_terminals_of_all_widths(on_terminal, train_file: Path) -> None:
    found = pn.learning_curve(train_file, test=train_file, epochs=2)
    for width in (40, 80, 200):
        on_terminal(width)
        terminal = output()
        lines = [*plot(found, terminal), *point_table(found, terminal)]
        assert max(map(len, lines)) <= min(width, 80)
        assert sum(line.count("●") for line in lines[1:]) == len(found.points)


def test_a_curve_in_json_is_what_python_says(cli, train_file: Path) -> None:
    arguments = ["--sizes", "0.5,1", "--folds", "2", "--json"]
    found = json.loads(cli("curve", train_file, *arguments, *QUICK).out)
    wanted = pn.learning_curve(train_file, sizes=[0.5, 1], folds=2, epochs=2, preset="fast")
    assert found == wanted.to_dict()


def test_a_chart_is_written_or_refused_before_the_work(cli, refuses, train_file: Path) -> None:
    pytest.importorskip("matplotlib")
    outcome = cli("curve", train_file, "--test", train_file, "--chart", "c.svg", *QUICK)
    assert outcome.status == 0 and b"<svg" in Path("c.svg").read_bytes()
    message = refuses("curve", train_file, "--chart", "c.pdf")
    assert message == "--chart: c.pdf does not end in .svg, .png, .html"
    assert "missing" in refuses("curve", train_file, "--chart", "missing/c.svg")


def test_progress_tells_the_time_left_on_a_terminal_alone(monkeypatch) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    for stream, shown in ((Screen(), True), (io.StringIO(), False)):
        monkeypatch.setattr("sys.stderr", stream)
        clock = iter([0.0, 10.0])
        with Progress("fold", clock=lambda clock=clock: next(clock)) as progress:
            progress(2, 10)
        assert ("fold 2 of 10, 40 s left" in stream.getvalue()) == shown
        assert Terminal(stream).live == shown
        assert bool(stream.getvalue()) == shown
