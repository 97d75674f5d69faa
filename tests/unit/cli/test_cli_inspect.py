"""``perceptron-nlp inspect``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from oracles.tensors import array_of

import perceptron_nlp as pn
from perceptron_nlp.formats.tensorarrays import write_tensors
from perceptron_nlp.formats.tensorfile import open_tensors


def test_json_describes_the_whole_model(cli, train_file: Path) -> None:
    pn.train(
        train_file,
        dev=train_file,
        epochs=2,
        dictionary=(2, 0.9),
        templates="default",
        right_to_left=True,
    ).save("a.model")
    model = pn.read_model("a.model")
    found = json.loads(cli("inspect", "a.model", "--to", "json").out)
    assert found["format_version"] == 1
    assert found["bytes"] == Path("a.model").stat().st_size
    assert found["column"] == "upos"
    assert found["labels"] == list(pn.load("a.model").labels)
    assert [item["template"] for item in found["templates"]] == [
        template.in_text_order(right_to_left=True) for template in pn.preset("default")
    ]
    assert sum(item["rows"] for item in found["templates"]) == found["rows"]
    assert sum(item["weights"] for item in found["templates"]) == found["weights"] > 0
    assert (found["table"], found["table_bits"]) == ("exact", None)
    assert (found["beam"], found["right_to_left"]) == (1, True)
    assert found["dictionary"] == dict(model.dictionary)
    assert found["record"] == dict(model.record)
    assert len(found["record"]["epochs"]) == 2


def test_a_resumable_model_tells_when_its_features_were_updated_last(cli) -> None:
    # One sentence is learned in the first epoch; the other goes on to be told one thing or another.
    sentences = [(["a", "b"], ["X", "Y"]), (["c"], ["X"]), (["c"], ["Y"])]
    options = {"templates": ["word[0]"], "update": "perceptron", "runs": 1}
    pn.train(sentences, epochs=5, resumable=True, **options).save("a.model")
    model = pn.read_model("a.model")
    assert model.state is not None
    counts = json.loads(cli("inspect", "a.model", "--to", "json").out)["last_updates"]
    assert counts == model.state.runs[0].last_updates
    assert (len(counts), sum(counts)) == (5, len(model.state.runs[0].keys))
    assert counts[0] > 0 and counts[-1] > 0
    assert "\nlast update, by epoch  5: " in cli("inspect", "a.model").out.decode()
    pn.train(sentences, epochs=5, **options).save("b.model")
    assert json.loads(cli("inspect", "b.model", "--to", "json").out)["last_updates"] is None


def test_the_report_says_the_same_to_people(cli, model: Path) -> None:
    outcome = cli("inspect", model)
    text = outcome.out.decode()
    assert (outcome.status, outcome.err) == (0, "")
    assert text.startswith(f"a model of upos: {Path('en.model').stat().st_size:,} bytes\n")
    facts = [line.split() for line in text.splitlines()]
    assert ["labels", "6:", "ADJ", "DET", "NOUN", "PRON", "PUNCT", "VERB"] in facts
    assert ["table", "exact", "keys,", "no", "collisions"] in facts
    assert "\nupos    lower[-1] lower[0] " in text and "lost on dev" not in text
    assert [line[0] for line in facts[-12:] if line][-1] != "epoch"


@pytest.mark.parametrize("width", [20, 60])
def test_no_line_is_wider_than_the_terminal(
    cli, model: Path, on_terminal: Callable[[int], None], width: int
) -> None:
    on_terminal(width)
    lines = cli("inspect", model).out.decode().splitlines()
    assert max(map(len, lines)) <= width


def one_feature(tokens: object, i: int) -> list[str]:
    return [str(i)]


def test_a_model_of_a_feature_function_is_described_without_it(cli) -> None:
    tagger = pn.train([(["a", "b"], ["A", "B"])], features=one_feature, epochs=2)
    tagger.save("own.model")
    found = json.loads(cli("inspect", "own.model", "--to", "json").out)
    assert found["extractor"].endswith("one_feature")
    assert found["templates"][0]["template"] == "column:features.word.pieces[0]"
    assert cli("inspect", "own.model").status == 0


def test_a_fixed_table_and_a_packed_file_are_told_as_what_they_are(cli, train_file: Path) -> None:
    pn.train(train_file, epochs=2, templates="default", table_bits=12).save("a.model")
    found = json.loads(cli("inspect", "a.model", "--to", "json").out)
    assert (found["table"], found["table_bits"]) == ("fixed", 12)
    assert found["templates"][0]["rows"] is None
    text = cli("inspect", "a.model").out.decode()
    assert "2^12 rows" in text and "\ncollisions " in text
    assert "rows of a fixed table belong to all templates" in text
    pn.load("a.model").compress(4000, force=True).save("b.model")
    packed = json.loads(cli("inspect", "b.model", "--to", "json").out)
    assert packed["format_version"] == 2
    assert sum(part["bytes"] for part in packed["layout"]) == Path("b.model").stat().st_size


def test_worth_and_features_are_shown_with_a_text(cli, model: Path, train_file: Path) -> None:
    outcome = cli("inspect", model, "--dev", train_file, "--label", "NOUN", "--top", "3", "--quiet")
    text = outcome.out.decode()
    assert (outcome.status, outcome.err) == (0, "")
    facts = [line.split() for line in text.splitlines()]
    assert "lost on dev" in text and ["dev", "accuracy", "100.00", "%"] in facts
    shown = text[text.index("speak for (+) or against (-) NOUN") :].splitlines()[2:5]
    assert all("]=" in line and line.lstrip()[0] in "+-" for line in shown)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--label", "NOUN"], "--label: a model holds only hashes"),
        (["--label", "NOUNS", "--text", "train.conllu"], "--label: the model has no label 'NOUNS'"),
        (["--top", "0"], "--top"),
        (["--dev", "nowhere.conllu"], "nowhere.conllu"),
    ],
)
def test_what_cannot_be_shown_is_said_in_a_line(
    cli, model: Path, train_file: Path, arguments: list[str], message: str
) -> None:
    outcome = cli("inspect", model, "--quiet", *arguments)
    assert (outcome.status, outcome.out) == (2, b"")
    assert message in outcome.message


HOSTILE = "\x1b]0;owned\x07\x9b31m\u202e\nforged line"


def with_metadata(model: Path, /, **changes: object) -> Path:
    """A copy of a model file whose metadata says something else."""
    tensors, metadata = open_tensors(model.read_bytes(), "en.model")
    changed = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in changes.items()
    }
    path = Path("odd.model")
    path.write_bytes(
        write_tensors(
            {name: array_of(tensor) for name, tensor in tensors.items()}, {**metadata, **changed}
        )
    )
    return path


def test_what_a_hostile_file_holds_is_printed_as_text_alone(cli, model: Path) -> None:
    record = {
        **pn.read_model(model).record,
        "version": HOSTILE,
        "options": {HOSTILE: HOSTILE},
        "train": {"sentences": 1, "tokens": 1, "labeled": 1, "sha256": HOSTILE},
    }
    described = {**json.loads(open_tensors(model.read_bytes(), "")[1]["model"]), "column": HOSTILE}
    odd = with_metadata(model, record=record, model=described)
    plain = cli("inspect", odd).out.decode()
    assert plain.replace("\n", "").isprintable() and "\nforged" not in plain
    assert plain.count("owned") >= 5
    described = cli("inspect", odd, "--to", "json").out.decode()
    assert described.replace("\n", "").isprintable()
    assert json.loads(described)["record"]["version"] == HOSTILE


@pytest.mark.parametrize(
    "record",
    [
        '{"best_epoch": 1' + "0" * 400 + "}",
        '{"epochs": [{"epoch": 1, "mistakes": 1, "dev_accuracy": 1' + "0" * 400 + "}]}",
        '{"epochs": [{"epoch": 1, "mistakes": 1, "dev_accuracy": NaN}]}',
        '{"epochs": [{"epoch": 1, "mistakes": 1, "dev_accuracy": 1e999}]}',
        '{"epochs": [{"epoch": 1, "mistakes": "many", "dev_accuracy": null}]}',
        '{"epochs": [{"epoch": true, "mistakes": 1, "dev_accuracy": null}]}',
        '{"epochs": 3}',
        '{"train": {"sentences": [1], "labeled": 1, "sha256": "x"}}',
        '{"train": "all of it"}',
        '{"options": []}',
        '{"merged": [{"weight": "1", "sha256": "x", "record": {}}]}',
        '{"merged": [{"weight": 1, "sha256": "x", "record": {"version": 1}}]}',
    ],
)
def test_a_file_whose_record_holds_what_is_never_written_is_refused(
    refuses, model: Path, record: str
) -> None:
    message = refuses("inspect", with_metadata(model, record=record))
    assert message.startswith("odd.model: the model's description is not valid: ")
    assert len(message) < 200
