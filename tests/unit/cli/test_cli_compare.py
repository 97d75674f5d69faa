"""``perceptron-nlp compare``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import conllu

import perceptron_nlp as pn
from perceptron_nlp._display import p_value
from perceptron_nlp.cli.compare import change_table, label_table, summary, verdict
from perceptron_nlp.cli.terminal import output


@pytest.fixture
def other(train_file: Path) -> Path:
    """``other.model``, a worse one."""
    pn.train(train_file, epochs=1, update="perceptron", templates=["bias"]).save("other.model")
    return Path("other.model")


def test_json_holds_what_python_says(cli, model: Path, other: Path, train_file: Path) -> None:
    outcome = cli("compare", other, model, train_file, "--json", "--limit", "3")
    told = json.loads(outcome.out)
    assert (told.pop("a"), told.pop("b")) == ("other.model", "en.model")
    assert told == pn.compare(other, model, train_file).to_dict(limit=3)
    assert len(told["changes"]) == 3
    assert outcome.err == "train.conllu: read as conllu\n"


def test_a_tagged_file_stands_for_its_tagger(
    cli, model: Path, other: Path, train_file: Path
) -> None:
    assert cli("tag", other, train_file, "-o", "other.conllu").status == 0
    by_model = json.loads(cli("compare", other, model, train_file, "--json").out)
    by_file = json.loads(cli("compare", "other.conllu", model, train_file, "--json").out)
    piped = json.loads(
        cli(
            "compare", "-", model, train_file, "--json", stdin=Path("other.conllu").read_bytes()
        ).out
    )
    for told in (by_model, by_file, piped):
        del told["a"]
    assert by_file == piped == by_model


def test_the_page_shows_scores_tests_labels_and_places(
    cli, model: Path, other: Path, train_file: Path
) -> None:
    lines = cli("compare", other, model, train_file, "--limit", "2").out.decode().splitlines()
    result = pn.compare(other, model, train_file)
    assert lines[0] == f"column upos, {result.tokens} tokens"
    assert lines[1].split()[:4] == ["A", "accuracy", f"{100 * result.accuracy.a:.2f}", "%"]
    assert "McNemar's exact test" in lines[4] and "randomization" in lines[5]
    assert lines[6] == verdict(result)
    first = result.changes[0]
    place = next(line for line in lines if line.startswith(f"train.conllu:{first.line} "))
    assert place.split()[1:5] == [first.word, first.gold, first.a, first.b]
    assert f"[{first.word}]" in place
    assert sum(line.startswith("train.conllu:") for line in lines) == 2


def test_a_model_beside_itself_is_the_same(cli, model: Path, train_file: Path) -> None:
    outcome = cli("compare", model, model, train_file)
    assert b"A and B give the same labels." in outcome.out
    assert outcome.out.count(b"p = 1.0000") == 2


def test_a_difference_that_may_be_chance_is_called_so(texts_of_one_change) -> None:
    result = pn.compare(*texts_of_one_change)
    assert verdict(result) == "B scored higher, but that may well be chance."
    assert verdict(pn.compare(*reversed(texts_of_one_change[:2]), texts_of_one_change[2])) == (
        "A scored higher, but that may well be chance."
    )


def test_a_difference_that_chance_would_hardly_make_is_called_so() -> None:
    gold = [(["a", "b"], ["X", "Y"])] * 10
    worse = [(["a", "b"], ["Z", "Y"])] * 10
    assert verdict(pn.compare(worse, gold, gold)) == (
        "B is better: chance alone would hardly do this."
    )
    assert verdict(pn.compare(gold, worse, gold)).startswith("A is better")


@pytest.fixture
def texts_of_one_change() -> list[list[tuple[list[str], list[str]]]]:
    """A, B and the gold text, in which B has one word more."""
    return [[(["a", "b"], [label, "Y"])] for label in ("Z", "X", "X")]


@pytest.mark.parametrize("width", [20, 33, 50, 80, 200])
def test_no_line_is_wider_than_the_terminal(width: int, on_terminal: Callable[[int], None]) -> None:
    on_terminal(width)
    gold = [(["x" * 40, "a\u2028b", "c"] * 3, ["Case=Nom|" * 9, "N", "V"] * 3)]
    result = pn.compare([(gold[0][0], ["V"] * 9)], [(gold[0][0], ["N"] * 9)], gold)
    terminal = output()
    lines = [
        *summary(result, ["a" * 90, "b"], terminal),
        *label_table(result, terminal),
        *change_table(result, 9, terminal),
    ]
    assert max(map(len, lines)) <= width
    assert not any("\u2028" in line for line in lines)


def test_what_cannot_be_compared_is_refused(refuses, model: Path, train_file: Path) -> None:
    Path("cut.conllu").write_text(train_file.read_text().replace("\tdog\t", "\tfox\t"))
    assert refuses("compare", model, "cut.conllu", train_file, "--quiet").startswith(
        "cut.conllu:3: the word 'fox' stands where train.conllu:3 has 'dog'"
    )
    assert refuses("compare", model, "nowhere", train_file) == "nowhere: there is no such file"
    assert refuses("compare", "-", "-", train_file, "--quiet").startswith("<stdin>: named twice")
    assert refuses("compare", model, model, train_file, "--limit", "-1").startswith("--limit")


def test_long_paths_cut_nothing_in_a_pipe_and_leave_room_for_the_labels_on_a_terminal(
    on_terminal: Callable[[int], None],
) -> None:
    path = "folder/" * 20 + "gold.conllu"
    Path(path).parent.mkdir(parents=True)
    Path(path).write_text(conllu(["dogs/NOUN"]))
    result = pn.compare([(["dogs"], ["A"])], [(["dogs"], ["B"])], path)
    whole = "\n".join([*summary(result, [path, "b"], output()), *change_table(result, 9, output())])
    assert whole.count(path) == 2 and "…" not in whole
    on_terminal(80)
    lines = [*summary(result, [path, "b"], output()), *change_table(result, 9, output())]
    assert lines[1].endswith("gold.conllu") and max(map(len, lines)) <= 80
    assert lines[-1].split()[1:5] == ["dogs", "NOUN", "A", "B"]
    assert "gold.conllu:2" in lines[-1]


def test_a_p_value_that_no_float_holds_is_below_a_bound() -> None:
    assert (p_value(0.0), p_value(0.03125)) == ("p < 0.0001", "p = 0.0312")
