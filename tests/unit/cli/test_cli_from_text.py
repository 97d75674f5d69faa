"""``perceptron-nlp evaluate`` from running text: a model's, and what any program wrote."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import perceptron_nlp as pn
from tests.unit.cli.conftest import TAGGED, Run, conllu

GOLD = conllu(TAGGED[:2])


@pytest.fixture
def gold() -> Path:
    path = Path("gold.conllu")
    path.write_text(GOLD, "utf-8")
    return path


def test_a_model_is_scored_from_the_text_in_the_columns_that_it_fills(
    cli: Run, model: Path, gold: Path
) -> None:
    done = cli("evaluate", model, gold, "--from-text", "--to", "json")
    found = json.loads(done.out)
    scores = {one["metric"]: one for one in found["scores"]}
    assert list(scores) == ["Tokens", "Sentences", "Words", "UPOS", "AllTags"]
    assert [one["column"] for one in found["sections"]] == ["upos"]
    assert found == pn.load(model).evaluate_text(gold).to_dict()
    assert scores["UPOS"]["gold"] == 9 and scores["UPOS"]["aligned"] == scores["Words"]["correct"]
    assert done.err.count("as in English") == 1


def test_a_table_for_people_has_a_line_a_metric(cli: Run, model: Path, gold: Path) -> None:
    out = cli("evaluate", model, gold, "--from-text").out.decode()
    lines = out.splitlines()
    names = ["metric", "Tokens", "Sentences", "Words", "UPOS", "AllTags"]
    assert [line.split()[0] for line in lines[2:8]] == names
    assert lines[8] == "" and lines[9].startswith("upos: ")
    assert not [line for line in lines if line.startswith("known tokens")]


def test_the_output_of_any_program_is_scored_against_gold(cli: Run, gold: Path) -> None:
    Path("system.out").write_text(GOLD.replace("DET", "X"), "utf-8")
    found = json.loads(cli("evaluate", "system.out", gold, "--to", "json").out)
    scores = {one["metric"]: one for one in found["scores"]}
    assert scores["Words"]["f1"] == 1 and scores["UPOS"]["correct"] == 7
    # Nobody knows which words that program knew.
    assert b"unknown" not in cli("evaluate", "system.out", gold).out
    piped = cli("evaluate", "-", gold, "--to", "json", stdin=Path("system.out").read_bytes())
    assert json.loads(piped.out) == found


def test_texts_that_differ_are_refused_with_the_place(
    refuses: Callable[..., str], gold: Path
) -> None:
    Path("system.conllu").write_text(GOLD.replace("sleeps", "slept"), "utf-8")
    message = refuses("evaluate", "system.conllu", gold)
    assert message.startswith("gold.conllu:8: the texts differ, white space left out: after")
    assert "'eps.'" in message and "'pt.'" in message


def test_gold_text_that_is_not_conllu_is_refused(
    refuses: Callable[..., str], model: Path, gold: Path
) -> None:
    Path("test.txt").write_text("A/DET cat/NOUN\nA/DET dog/NOUN\n", "utf-8")
    for first in ((model, "--from-text"), (gold,)):
        assert refuses("evaluate", first[0], "test.txt", *first[1:], "--quiet").startswith(
            "test.txt: not CoNLL-U (read as tagged)"
        )


@pytest.mark.parametrize("option", [("--report", "r"), ("--calibration",), ("--column", "upos")])
def test_options_that_say_nothing_of_text_are_refused(
    refuses: Callable[..., str], model: Path, gold: Path, option: tuple[str, ...]
) -> None:
    assert refuses("evaluate", model, gold, "--from-text", *option).startswith(
        f"{option[0]} does not go with --from-text"
    )
    assert f"{option[0]} does not go with gold.conllu as CoNLL-U" in refuses(
        "evaluate", gold, gold, *option
    )


def test_the_output_of_any_program_gets_the_same_tables(cli: Run, gold: Path) -> None:
    system = GOLD.replace("\tDET\t", "\tX\t").replace("cat\tcat", "cat\tkitten")
    Path("system.out").write_text(system, "utf-8")
    outcome = cli("evaluate", "system.out", gold, "--errors", "errors.tsv", "--all")
    out = outcome.out.decode()
    assert "upos: 77.78 % of 9 words in 2 sentences\naccuracy   77.78 %  of 9 tokens" in out
    assert "DET   X               2" in out and "cat   kitten          1" in out
    rows = [line.split("\t") for line in Path("errors.tsv").read_text("utf-8").splitlines()]
    assert [row[1:5] for row in rows[1:]] == [
        ["upos", "The", "DET", "X"],
        ["upos", "A", "DET", "X"],
        ["lemma", "cat", "cat", "kitten"],
    ]
    assert rows[1][0] == "gold.conllu:2" and outcome.err.endswith("errors.tsv: 3 mistakes\n")
