"""``perceptron-nlp evaluate``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.cli.evaluate import confusion_table, label_table, page, summary
from perceptron_nlp.cli.terminal import output


def test_json_holds_what_python_says_and_nothing_else(cli, model: Path, train_file: Path) -> None:
    outcome = cli("evaluate", model, train_file, "--json")
    found = json.loads(outcome.out)
    assert found == pn.load(model).evaluate(train_file).to_dict()
    assert set(found) == {
        "column",
        "sentences",
        "tokens",
        "unlabeled",
        "accuracy",
        "known_accuracy",
        "unknown_accuracy",
        "sentence_accuracy",
        "macro_f1",
        "labels",
    }
    assert all(
        set(scores) == {"precision", "recall", "f1", "support"}
        for scores in found["labels"].values()
    )
    assert outcome.err == "train.conllu: read as conllu\n"


def test_shares_are_fractions_of_one(cli, model: Path) -> None:
    Path("test.txt").write_text("The/DET dog/NOUN barks/NOUN\nThe/DET cat/NOUN\n")
    found = json.loads(cli("evaluate", model, "test.txt", "--json").out)
    assert found["accuracy"] == 0.8
    assert found["sentence_accuracy"] == 0.5
    assert found["labels"]["NOUN"] == {
        "precision": 1.0,
        "recall": pytest.approx(2 / 3),
        "f1": 0.8,
        "support": 3,
    }
    assert found["unknown_accuracy"] is None


def test_the_table_shows_shares_labels_and_mistakes(cli, model: Path) -> None:
    Path("test.txt").write_text("The/DET dog/NOUN barks/NOUN\nThe/DET cat/NOUN\n")
    lines = cli("evaluate", model, "test.txt", "--quiet").out.decode().splitlines()
    assert lines[0] == "column upos, accuracy:"
    assert lines[1].split() == ["tokens", "80.00", "%", "of", "5"]
    assert lines[3].split() == ["unknown", "tokens", "–", "of", "0"]
    assert lines[4].split() == ["sentences", "50.00", "%", "of", "2"]
    assert lines[6].split() == ["label", "precision", "recall", "F1", "support"]
    assert lines[7].split() == ["NOUN", "100.00", "66.67", "80.00", "3"]
    assert lines[-2:] == ["most frequent errors", "       1  gold NOUN, predicted VERB"]


def test_several_files_count_together(cli, model: Path, train_file: Path) -> None:
    Path("more.conllu").write_bytes(train_file.read_bytes())
    found = json.loads(cli("evaluate", model, train_file, "more.conllu", "--json").out)
    assert found["sentences"] == 10


def test_gold_labels_may_stand_in_another_column(cli, model: Path) -> None:
    Path("test.txt").write_text("The X DET\ndog X NOUN\n\n")
    found = json.loads(
        cli("evaluate", model, "test.txt", "--format", "columns", "--column", "3", "--json").out
    )
    assert (found["column"], found["accuracy"]) == ("3", 1.0)


def test_words_without_a_gold_label_are_left_out_and_counted(cli, model: Path) -> None:
    Path("test.txt").write_text("The DET\ndog _\n\n")
    outcome = cli("evaluate", model, "test.txt", "--fields", "form,upos")
    assert b"1 tokens without a gold label left out" in outcome.out


@pytest.mark.parametrize("width", [20, 33, 50, 200])
def test_no_line_is_wider_than_the_terminal(width: int, on_terminal: Callable[[int], None]) -> None:
    on_terminal(width)
    result = pn.Evaluation("upos")
    result.add(["Case=Nom|" * 9, "N\n\tOUN", None], ["X" * 70, "N\n\tOUN", "X"], [True] * 3)
    terminal = output()
    lines = [
        *summary(result, terminal),
        *label_table(result, terminal),
        *confusion_table(result, terminal),
    ]
    assert max(map(len, lines)) <= width
    assert not any("\n" in line or "\t" in line for line in lines)


def test_a_perfect_tagger_has_no_table_of_mistakes() -> None:
    result = pn.Evaluation("upos")
    result.add(["A"], ["A"], [True])
    assert confusion_table(result, output()) == []


def test_spans_come_first_where_a_column_holds_them(cli) -> None:
    rows = ["We/B-NP saw/O the/B-NP old/I-NP house/I-NP", "It/B-NP was/B-VP nice/O"]
    Path("chunks.txt").write_text("\n".join(rows) + "\n")
    pn.train("chunks.txt", epochs=5).save("chunk.model")
    Path("test.txt").write_text("We/B-NP saw/B-NP the/B-NP old/I-NP house/I-NP\n")
    lines = cli("evaluate", "chunk.model", "test.txt", "--quiet").out.decode().splitlines()
    assert lines[0] == "column tag, spans:"
    assert lines[1].split() == ["type", "precision", "recall", "F1", "support"]
    assert lines[2].split() == ["all", "100.00", "66.67", "80.00", "3"]
    assert lines[3].split() == ["NP", "100.00", "66.67", "80.00", "3"]
    assert lines[5] == "column tag, accuracy:"
    result = pn.load("chunk.model").evaluate("test.txt")
    assert str(result).startswith(
        "tag: F1 80.00 of 3 spans (precision 100.00, recall 66.67); 80.00 %"
    )
    assert list(result.to_dict())[:4] == ["column", "precision", "recall", "f1"]


def test_no_label_is_cut_in_a_pipe_and_none_pushes_the_other_out_on_a_terminal(
    on_terminal: Callable[[int], None],
) -> None:
    gold, given = "Case=Nom|" * 12 + "A=1", "Case=Gen|" * 12 + "B=2"
    result = pn.Evaluation("feats")
    result.add([gold], [given], [True])
    whole = page(result, output())
    assert f"gold {gold}, predicted {given}" in whole and "…" not in whole
    on_terminal(60)
    mistakes = confusion_table(result, output())[-1]
    assert len(mistakes) <= 60
    assert "A=1, predicted " in mistakes and mistakes.endswith("B=2")


def test_all_mistakes_are_written_as_a_table(cli, model: Path, train_file: Path) -> None:
    gold = Path("gold.conllu")
    gold.write_bytes(train_file.read_bytes().replace(b"\tNOUN\t", b"\tPROPN\t"))
    found = json.loads(cli("evaluate", model, gold, "--errors", "errors.tsv", "--json").out)
    lines = Path("errors.tsv").read_text("utf-8").splitlines()
    assert lines[0] == "place\tcolumn\ttoken\tgold\tpredicted\tconfidence\tbefore\tafter"
    assert len(lines) - 1 == round(found["tokens"] * (1 - found["accuracy"])) == 4
    assert lines[1] == "gold.conllu:3\tupos\tdog\tPROPN\tNOUN\t\tThe\tbarks ."


def test_the_table_of_mistakes_overwrites_no_input(refuses, model: Path, train_file: Path) -> None:
    assert "would be overwritten" in refuses("evaluate", model, train_file, "--errors", train_file)
    assert "would be overwritten" in refuses("evaluate", model, train_file, "--errors", model)
    assert "missing" in refuses("evaluate", model, train_file, "--errors", "missing/errors.tsv")
    message = refuses("evaluate", model, train_file, "--errors", "e.tsv", "--report", "r")
    assert message == "--errors does not go with --report; run them one after the other"


def test_labels_of_no_gold_token_are_listed_if_asked_for(cli, model, train_file: Path) -> None:
    gold = Path("gold.conllu")
    gold.write_bytes(train_file.read_bytes().replace(b"\tNOUN\t", b"\tPROPN\t"))
    usual = cli("evaluate", model, gold).out.decode()
    assert "1 label of no gold token left out (--all-labels)" in usual
    assert "\nNOUN " not in usual and "\nmacro F1 " in usual
    assert "\nNOUN " in cli("evaluate", model, gold, "--all-labels").out.decode()


def test_features_and_all_columns_together_are_scored(cli) -> None:
    rows = ["1\ta\t_\tX\t_\tCase=Nom|Number=Sing\t_\t_\t_\t_", "2\tb\t_\tY\t_\t_\t_\t_\t_\t_"]
    Path("train.conllu").write_text("\n".join(rows) + "\n\n")
    assert cli("train", "train.conllu", "--column", "upos,feats", "--model", "m.model").status == 0
    Path("test.conllu").write_text("\n".join(rows).replace("Sing", "Plur") + "\n\n")
    out = cli("evaluate", "m.model", "test.conllu").out.decode()
    assert "feature  precision" in out and "all columns right: 50.00 %" in out
    found = json.loads(cli("evaluate", "m.model", "test.conllu", "--json").out)
    assert found["all_tags"] == 0.5
    assert found["columns"][1]["features"]["Case"]["f1"] == 1.0
    assert found["columns"][1]["features"]["Number"]["f1"] == 0.0
