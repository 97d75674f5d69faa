"""``perceptron-nlp evaluate``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.pages.renderers import text_lines


def test_json_holds_what_python_says_and_nothing_else(cli, model: Path, train_file: Path) -> None:
    outcome = cli("evaluate", model, train_file, "--to", "json")
    found = json.loads(outcome.out)
    assert found == pn.load(model).evaluate(train_file).to_dict()
    assert set(found) == {
        *("title", "column", "sentences", "tokens", "unlabeled", "accuracy", "known_accuracy"),
        *("unknown_accuracy", "sentence_accuracy", "macro_f1", "labels", "errors"),
    }
    assert all(
        list(scores) == ["label", "precision", "recall", "f1", "support"]
        for scores in found["labels"]
    )
    assert outcome.err == "train.conllu: read as conllu\n"


def test_shares_are_fractions_of_one(cli, model: Path) -> None:
    Path("test.txt").write_text("The/DET dog/NOUN barks/NOUN\nThe/DET cat/NOUN\n")
    found = json.loads(cli("evaluate", model, "test.txt", "--to", "json").out)
    assert found["accuracy"] == 0.8
    assert found["sentence_accuracy"] == 0.5
    assert found["labels"][0] == {
        "label": "NOUN",
        "precision": 1.0,
        "recall": pytest.approx(2 / 3),
        "f1": 0.8,
        "support": 3,
    }
    assert found["unknown_accuracy"] is None


def test_the_table_shows_shares_labels_and_mistakes(cli, model: Path) -> None:
    Path("test.txt").write_text("The/DET dog/NOUN barks/NOUN\nThe/DET cat/NOUN\n")
    lines = cli("evaluate", model, "test.txt", "--quiet").out.decode().splitlines()
    assert lines[0] == "upos: 80.00 % of 5 words in 2 sentences"
    assert lines[1].split() == ["accuracy", "80.00", "%", "of", "5", "tokens"]
    assert lines[3].split() == ["unknown", "tokens", "–", "of", "0"]
    assert lines[4].split() == ["sentences", "50.00", "%", "of", "2"]
    assert lines[7].split() == ["label", "precision", "recall", "F1", "support"]
    assert lines[8].split() == ["NOUN", "100.00", "66.67", "80.00", "3"]
    at = lines.index("most frequent errors")
    assert lines[at + 2].split() == ["NOUN", "VERB", "1"]


def test_several_files_count_together(cli, model: Path, train_file: Path) -> None:
    Path("more.conllu").write_bytes(train_file.read_bytes())
    found = json.loads(cli("evaluate", model, train_file, "more.conllu", "--to", "json").out)
    assert found["sentences"] == 10


def test_gold_labels_may_stand_in_another_column(cli, model: Path) -> None:
    Path("test.txt").write_text("The X DET\ndog X NOUN\n\n")
    found = json.loads(
        cli(
            "evaluate", model, "test.txt", "--format", "columns", "--column", "3", "--to", "json"
        ).out
    )
    assert (found["column"], found["accuracy"]) == ("3", 1.0)


def test_words_without_a_gold_label_are_left_out_and_counted(cli, model: Path) -> None:
    Path("test.txt").write_text("The DET\ndog _\n\n")
    outcome = cli("evaluate", model, "test.txt", "--fields", "form,upos")
    assert b"1 token without a gold label left out" in outcome.out


@pytest.mark.parametrize("width", [20, 33, 50, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    result = pn.Evaluation("upos")
    result.add(["Case=Nom|" * 9, "N\n\tOUN", None], ["X" * 70, "N\n\tOUN", "X"], [True] * 3)
    lines = text_lines(result.report(), width)
    assert max(map(len, lines)) <= width
    assert not any("\n" in line or "\t" in line for line in lines)


def test_a_perfect_tagger_has_no_table_of_mistakes() -> None:
    result = pn.Evaluation("upos")
    result.add(["A"], ["A"], [True])
    assert "most frequent errors" not in result.to("text")


def test_spans_come_first_where_a_column_holds_them(cli) -> None:
    rows = ["We/B-NP saw/O the/B-NP old/I-NP house/I-NP", "It/B-NP was/B-VP nice/O"]
    Path("chunks.txt").write_text("\n".join(rows) + "\n")
    pn.train("chunks.txt", epochs=5).save("chunk.model")
    Path("test.txt").write_text("We/B-NP saw/B-NP the/B-NP old/I-NP house/I-NP\n")
    lines = cli("evaluate", "chunk.model", "test.txt", "--quiet").out.decode().splitlines()
    assert lines[1].split() == ["F1", "of", "spans", "80.00", "%"]
    at = lines.index("type  precision  recall     F1  support")
    assert lines[at + 1].split() == ["all", "100.00", "66.67", "80.00", "3"]
    assert lines[at + 2].split() == ["NP", "100.00", "66.67", "80.00", "3"]
    result = pn.load("chunk.model").evaluate("test.txt")
    assert str(result).startswith(
        "tag: F1 80.00 of 3 spans (precision 100.00, recall 66.67); 80.00 %"
    )
    assert list(result.to_dict())[1:5] == ["column", "f1", "precision", "recall"]


def test_no_label_is_cut_in_a_pipe_and_none_pushes_the_other_out_on_a_terminal() -> None:
    gold, given = "Case=Nom|" * 12 + "A=1", "Case=Gen|" * 12 + "B=2"
    result = pn.Evaluation("feats")
    result.add([gold], [given], [True])
    whole = "\n".join(text_lines(result.report(), None))
    assert f"{gold}  {given}" in whole
    lines = text_lines(result.report(), 60)
    mistakes = lines[lines.index("most frequent errors") + 2]
    assert len(mistakes) <= 60
    assert "A=1  " in mistakes and mistakes.split()[1].endswith("B=2")


def test_all_mistakes_are_written_as_a_table(cli, model: Path, train_file: Path) -> None:
    gold = Path("gold.conllu")
    gold.write_bytes(train_file.read_bytes().replace(b"\tNOUN\t", b"\tPROPN\t"))
    found = json.loads(cli("evaluate", model, gold, "--errors", "errors.tsv", "--to", "json").out)
    lines = Path("errors.tsv").read_text("utf-8").splitlines()
    assert lines[0] == "place\tcolumn\ttoken\tgold\tpredicted\tconfidence\tbefore\tafter"
    assert len(lines) - 1 == round(found["tokens"] * (1 - found["accuracy"])) == 4
    assert lines[1] == "gold.conllu:3\tupos\tdog\tPROPN\tNOUN\t\tThe\tbarks ."


def test_labels_of_no_gold_token_are_listed_if_asked_for(cli, model, train_file: Path) -> None:
    gold = Path("gold.conllu")
    gold.write_bytes(train_file.read_bytes().replace(b"\tNOUN\t", b"\tPROPN\t"))
    usual = cli("evaluate", model, gold).out.decode()
    assert "… and 1 more row (--all shows more)" in usual
    assert "\nNOUN " not in usual and "\nmacro F1 " in usual
    assert "\nNOUN " in cli("evaluate", model, gold, "--all").out.decode()


@pytest.fixture
def columns(cli) -> tuple[str, str]:
    """A model of three columns, and a text of which two words in three are right in all."""
    rows = "1\ta\tA\tX\t_\tCase=Nom|Number=Sing\t_\t_\t_\t_\n2\tb\tB\tY\t_\t_\t_\t_\t_\t_\n\n"
    Path("train.conllu").write_text(rows)
    how = ["--column", "upos,feats,lemma", "--model", "m.model"]
    assert cli("train", "train.conllu", *how).status == 0
    Path("test.conllu").write_text(rows.replace("Sing", "Plur"))
    return "m.model", "test.conllu"


def test_features_and_all_columns_together_are_scored(cli, columns: tuple[str, str]) -> None:
    found = json.loads(cli("evaluate", *columns, "--to", "json").out)
    assert found["all_tags"] == 0.5
    assert [one["column"] for one in found["columns"]] == ["upos", "feats", "lemma"]
    assert [one["column"] for one in found["sections"]] == ["upos", "feats", "lemma"]
    assert found["sections"][1]["features"] == [
        {"feature": "Case", "precision": 1.0, "recall": 1.0, "f1": 1.0, "support": 1},
        {"feature": "Number", "precision": 0.0, "recall": 0.0, "f1": 0.0, "support": 1},
    ]


def test_of_several_columns_a_table_comes_first_then_the_details_of_one(
    cli, columns: tuple[str, str]
) -> None:
    lines = cli("evaluate", *columns, "--quiet").out.decode().splitlines()
    assert lines[:2] == [
        "upos, feats, lemma: all right in 50.00 % of the tokens",
        "all columns right  50.00 %",
    ]
    assert [line.split()[0] for line in lines[3:7]] == ["column", "upos", "feats", "lemma"]
    assert lines[8].startswith("upos: 100.00 % of 2 words")
    assert lines[-1] == "… and 2 more sections (--all shows more)"
    assert "whose labels: upos, feats, lemma together, as tag writes them" in lines
    assert not [line for line in lines if line.startswith("feats:")]
    whole = cli("evaluate", *columns, "--quiet", "--all").out.decode()
    assert "\nfeats: 50.00 %" in whole and "feature  precision" in whole
    alone = cli("evaluate", *columns, "--quiet", "--column", "feats").out.decode()
    assert alone.startswith("feats: ") and "as tag --column feats writes it" in alone


@pytest.mark.parametrize("form", ["tsv", "markdown", "latex", "html"])
def test_every_form_is_printed_and_another_one_refused(
    cli, refuses, columns: tuple[str, str], form: str
) -> None:
    if form == "html":
        pytest.importorskip("jinja2")
    out = cli("evaluate", *columns, "--quiet", "--to", form).out.decode()
    begins = {"tsv": "column\taccuracy", "markdown": "## upos", "latex": "% upos", "html": "<!DOC"}
    assert out.startswith(begins[form])
    message = refuses("evaluate", *columns, "--to", form + "x")
    assert message.startswith(f"argument --to: '{form}x' is none of text, tsv, markdown")


def test_several_models_before_the_test_are_compared(cli, model: Path, train_file: Path) -> None:
    Path("other.model").write_bytes(Path(model).read_bytes())
    found = json.loads(cli("evaluate", model, "other.model", train_file, "--to", "json").out)
    assert found == pn.evaluate_models([str(model), "other.model"], train_file).to_dict()
    text = cli("evaluate", model, "other.model", train_file, "--from-text", "--to", "latex").out
    assert rb"Sentences & other.model &" in text
    refused = cli("evaluate", model, "other.model", train_file, "--errors", "x.tsv")
    assert refused.status == 2 and "--errors: is of one model" in refused.err
    assert not Path("x.tsv").exists()
