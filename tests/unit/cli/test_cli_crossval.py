"""``perceptron-nlp crossval`` and ``curve``."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.cli.terminal import Progress, Terminal
from perceptron_nlp.pages.renderers import text_lines
from tests.unit.cli.conftest import Screen

QUICK = ["--epochs", "2", "--preset", "fast"]


def test_crossval_prints_mean_spread_and_pooled_scores(cli, train_file: Path) -> None:
    outcome = cli("crossval", train_file, "--folds", "5", *QUICK)
    found = pn.cross_validate(train_file, folds=5, epochs=2, preset="fast")
    lines = outcome.out.decode().splitlines()
    assert outcome.status == 0
    assert lines[0].startswith(f"upos: accuracy {100 * found.mean:.2f} % ±")
    assert lines[0].endswith("in 5 folds of 21 words")
    assert lines[3].split()[:3] == ["upos", "accuracy", f"{100 * found.mean:.2f}"]
    assert f"accuracy        {100 * found.pooled.accuracy:6.2f} %  of 21 tokens" in lines
    assert "most frequent errors" in lines


def test_crossval_of_lemmas_prints_no_line_for_each_lemma(cli) -> None:
    rows = "".join(f"1\tw{i}\tl{i}\tX\t_\t_\t_\t_\t_\t_\n\n" for i in range(200))
    Path("train.conllu").write_text(rows)
    outcome = cli("crossval", "train.conllu", "--column", "all", "--folds", "2", *QUICK)
    lines = outcome.out.decode().splitlines()
    assert outcome.status == 0 and len(lines) < 60
    assert [line.split()[0] for line in lines[2:5]] == ["column", "upos", "lemma"]


def test_crossval_in_json_is_what_python_says(cli, train_file: Path) -> None:
    found = json.loads(cli("crossval", train_file, "--folds", "3", "--to", "json", *QUICK).out)
    assert found == pn.cross_validate(train_file, folds=3, epochs=2, preset="fast").to_dict()


def test_remarks_stand_below_the_scores(cli, train_file: Path) -> None:
    outcome = cli("crossval", train_file, "--quiet", *QUICK)
    assert "the text is cut into 5 parts" in outcome.out.decode() and outcome.err == ""


def test_a_curve_is_a_table_of_points_with_its_forecasts(cli, train_file: Path) -> None:
    found = pn.learning_curve(train_file, test=train_file, epochs=2, preset="fast")
    lines = cli("curve", train_file, "--test", train_file, *QUICK).out.decode().splitlines()
    assert lines[0] == str(found) and "forecast for twice as many" in lines[0]
    at = next(i for i, line in enumerate(lines) if line.split()[:1] == ["share,"])
    for point, line in zip(found.points, lines[at + 1 :], strict=False):
        assert line.split()[:4] == [
            f"{100 * point.share:.2f}",
            *(f"{number:.0f}" for number in (point.sentences, point.tokens)),
            f"{100 * point.accuracy:.2f}",
        ]
    for width in (40, 80):
        assert max(map(len, text_lines(found.report(), width))) <= width


def test_a_curve_in_json_is_what_python_says(cli, train_file: Path) -> None:
    arguments = ["--sizes", "0.5,1", "--folds", "2", "--to", "json"]
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


def test_progress_tells_the_time_left(monkeypatch) -> None:
    stream = Screen()
    monkeypatch.setattr("sys.stderr", stream)
    clock = iter([0.0, 10.0])
    with Progress("fold", clock=lambda: next(clock)) as progress:
        progress(2, 10)
    assert "fold 2 of 10, 40 s left" in stream.getvalue() and Terminal(stream).live


@pytest.mark.parametrize("quiet", [False, True])
def test_long_work_says_so_once_a_minute_where_nobody_draws(monkeypatch, quiet: bool) -> None:
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    times = [0.0, 9.0, 11.0, 30.0, 70.0, 72.0, 200.0]
    clock = iter(times)
    with Progress("fold", quiet=quiet, clock=lambda: next(clock)) as progress:
        for done in range(1, len(times)):
            progress(done, 10)
    lines = stream.getvalue().splitlines()
    assert lines == (
        []
        if quiet
        else [
            "fold 2 of 10, 44 s left",
            "fold 5 of 10, 1 min 12 s left",
            "fold 6 of 10, 2 min 13 s left",
        ]
    )


def test_short_work_says_nothing_where_nobody_draws(monkeypatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    clock = iter([0.0, 1.0, 9.9])
    with Progress("fold", clock=lambda: next(clock)) as progress:
        progress(1, 2)
        progress(2, 2)
    assert stream.getvalue() == ""
