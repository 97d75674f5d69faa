"""``perceptron-nlp inspect``."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.cli.inspect import description, report


def test_json_describes_the_whole_model(cli, train_file: Path) -> None:
    pn.train(train_file, dev=train_file, epochs=2, dictionary=(2, 0.9), table_bits=12,
             templates="default", right_to_left=True).save("a.model")
    model = pn.read_model("a.model")
    found = json.loads(cli("inspect", "a.model", "--json").out)
    assert found["format_version"] == pn.MODEL_FORMAT_VERSION
    assert found["bytes"] == Path("a.model").stat().st_size
    assert found["column"] == "upos"
    assert found["labels"] == list(pn.load("a.model").labels)
    assert [item["template"] for item in found["templates"]] == [
        str(template) for template in pn.preset("default")]
    assert sum(item["rows"] for item in found["templates"]) == found["rows"]
    assert sum(item["weights"] for item in found["templates"]) == found["weights"] > 0
    assert (found["table"], found["table_bits"]) == ("fixed", 12)
    assert (found["beam"], found["right_to_left"]) == (1, True)
    assert found["dictionary"] == dict(model.dictionary)
    assert found["record"] == dict(model.record)
    assert len(found["record"]["epochs"]) == 2


def test_the_report_says_the_same_to_people(cli, model: Path) -> None:
    outcome = cli("inspect", model)
    text = outcome.out.decode()
    assert (outcome.status, outcome.err) == (0, "")
    assert text.startswith("en.model\n")
    assert "\nlabels          6: ADJ DET NOUN PRON PUNCT VERB\n" in text
    assert "\ntable           exact keys, no collisions\n" in text
    assert "  lower[-1] lower[0]\n" in text
    assert text.count("    –") == 5


@pytest.mark.parametrize("width", [20, 60])
def test_no_line_is_wider_than_the_terminal(
        cli, model: Path, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = cli("inspect", model).out.decode().splitlines()
    assert max(map(len, lines)) <= width


def one_feature(tokens: object, i: int, history: object) -> list[str]:
    return [str(i)]


def test_a_model_of_a_feature_function_is_described_without_it(cli) -> None:
    tagger = pn.train([(["a", "b"], ["A", "B"])], features=one_feature, epochs=2)
    tagger.save("own.model")
    found = json.loads(cli("inspect", "own.model", "--json").out)
    assert found["extractor"].endswith("one_feature")
    assert found["templates"][0]["template"].startswith("function ")
    assert cli("inspect", "own.model").status == 0


def test_a_training_record_of_another_form_is_said_to_be_so(model: Path) -> None:
    read = pn.read_model(model)
    for record in ({"epochs": 3}, {"train": "x"}, {"options": []}, {"epochs": [{}]}):
        found = description(replace(read, record=record), 1)
        assert report(found, "en.model")[-1][1].startswith("the training record is not")
