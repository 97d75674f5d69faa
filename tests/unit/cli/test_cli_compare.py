"""``perceptron-nlp compare``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp._display import p_value
from perceptron_nlp.pages.renderers import text_lines
from tests.unit.cli.conftest import conllu


@pytest.fixture
def other(train_file: Path) -> Path:
    """``other.model``, a worse one."""
    pn.train(train_file, epochs=1, update="perceptron", templates=["bias"]).save("other.model")
    return Path("other.model")


def test_json_holds_what_python_says(cli, model: Path, other: Path, train_file: Path) -> None:
    outcome = cli("compare", other, model, train_file, "--to", "json", "--limit", "3")
    result = pn.compare(other, model, train_file)
    assert json.loads(outcome.out) == result.report(["other.model", "en.model"]).to_dict()
    assert outcome.err == "train.conllu: read as conllu\n"


def test_a_tagged_file_stands_for_its_tagger(
    cli, model: Path, other: Path, train_file: Path
) -> None:
    assert cli("tag", other, train_file, "-o", "other.conllu").status == 0
    by_model = json.loads(cli("compare", other, model, train_file, "--to", "json").out)
    by_file = json.loads(cli("compare", "other.conllu", model, train_file, "--to", "json").out)
    piped = json.loads(
        cli(
            f"compare - {model} {train_file} --to json", stdin=Path("other.conllu").read_bytes()
        ).out
    )
    for told in (by_model, by_file, piped):
        del told["scores"][0]["name"]
    assert by_file == piped == by_model


def test_the_page_shows_scores_tests_labels_and_places(
    cli, model: Path, other: Path, train_file: Path
) -> None:
    lines = cli("compare", other, model, train_file, "--limit", "2").out.decode().splitlines()
    result = pn.compare(other, model, train_file)
    assert lines[0] == f"column upos, {result.tokens} tokens: {result.verdict}"
    scores = next(line for line in lines if line.startswith("A "))
    assert scores.split()[:3] == ["A", "accuracy", f"{100 * result.accuracy.a:.2f}"]
    assert scores.endswith("other.model")
    assert any("McNemar's exact test" in line for line in lines)
    first = result.changes[0]
    place = next(line for line in lines if line.startswith(f"train.conllu:{first.line} "))
    assert place.split()[1:5] == [first.word, first.gold, first.a, first.b]
    assert f"[{first.word}]" in place
    assert sum(line.startswith("train.conllu:") for line in lines) == 2


def test_a_model_beside_itself_is_the_same(cli, model: Path, train_file: Path) -> None:
    outcome = cli("compare", model, model, train_file)
    assert b"A and B give the same labels." in outcome.out
    assert outcome.out.count(b"1.0000") == 2


def test_a_difference_that_may_be_chance_is_called_so(texts_of_one_change) -> None:
    result = pn.compare(*texts_of_one_change)
    assert result.verdict == "B scored higher, but that may well be chance."
    assert pn.compare(*reversed(texts_of_one_change[:2]), texts_of_one_change[2]).verdict == (
        "A scored higher, but that may well be chance."
    )


def test_a_difference_that_chance_would_hardly_make_is_called_so() -> None:
    gold = [(["a", "b"], ["X", "Y"])] * 10
    worse = [(["a", "b"], ["Z", "Y"])] * 10
    assert pn.compare(worse, gold, gold).verdict == (
        "B is better: chance alone would hardly do this."
    )
    assert pn.compare(gold, worse, gold).verdict.startswith("A is better")


@pytest.fixture
def texts_of_one_change() -> list[list[tuple[list[str], list[str]]]]:
    """A, B and the gold text, in which B has one word more."""
    return [[(["a", "b"], [label, "Y"])] for label in ("Z", "X", "X")]


def test_long_paths_cut_nothing_in_a_pipe_and_leave_room_for_the_labels_on_a_terminal() -> None:
    path = "folder/" * 20 + "gold.conllu"
    Path(path).parent.mkdir(parents=True)
    Path(path).write_text(conllu(["dogs/NOUN"]))
    report = pn.compare([(["dogs"], ["A"])], [(["dogs"], ["B"])], path).report([path, "b"])
    whole = "\n".join(text_lines(report, None))
    assert whole.count(path) == 2 and "…" not in whole
    lines = text_lines(report, 80)
    assert max(map(len, lines)) <= 80
    assert lines[-1].split()[1:5] == ["dogs", "NOUN", "A", "B"]
    assert "gold.conllu:2" in lines[-1]


def test_a_p_value_that_no_float_holds_is_below_a_bound() -> None:
    assert (p_value(0.0), p_value(0.03125)) == ("p < 0.0001", "p = 0.0312")
