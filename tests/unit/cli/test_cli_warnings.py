"""What is likely not meant so is told in one line on standard error, and the work is done."""

from __future__ import annotations

from pathlib import Path

import pytest

import perceptron_nlp as pn

WORDS = "The small cat sleeps here .\nShe sees the old house .\nOld dogs sleep all day .\n"
LABELS = "DET ADJ NOUN VERB ADV PUNCT\nPRON VERB DET ADJ NOUN PUNCT\nADJ NOUN VERB DET NOUN PUNCT\n"


def column_file(path: Path, heading: str = "") -> Path:
    """A column file of three sentences."""
    text = heading
    for words, labels in zip(WORDS.splitlines(), LABELS.splitlines(), strict=True):
        rows = zip(words.split(), labels.split(), strict=True)
        text += "".join(f"{word} {label}\n" for word, label in rows) + "\n"
    path.write_text(text, "utf-8")
    return path


def warnings_in(err: str) -> list[str]:
    return [line for line in err.splitlines() if line.startswith("warning: ")]


@pytest.fixture
def model(tmp_path: Path) -> str:
    place = str(tmp_path / "column.model")
    pn.train(column_file(tmp_path / "train.txt"), epochs=3).save(place)
    return place


@pytest.mark.parametrize("verb", ["train", "evaluate", "tag"])
def test_a_row_of_headings_is_said_to_be_read_as_data(cli, tmp_path, model, verb) -> None:
    headed = str(column_file(tmp_path / "headed.txt", "Word POS\n"))
    arguments = {
        "train": ["train", headed, "--model", str(tmp_path / "new.model")],
        "evaluate": ["evaluate", model, headed],
        "tag": ["tag", model, headed],
    }[verb]
    outcome = cli(*arguments)
    assert outcome.status == 0
    told = [line for line in warnings_in(outcome.err) if "headed.txt:1: 'Word POS'" in line]
    assert len(told) == 1
    assert warnings_in(cli(*arguments, "--quiet").err) == []


@pytest.mark.parametrize(
    ("first", "fields", "expected"),
    [
        ("word\ttag\n", None, 1),
        ("FORM XPOS CHUNK\n", None, 1),
        ("-DOCSTART- O\n\nToken NER\n", None, 3),
        ("wort klasse\n", ["klasse", "form"], None),
        ("form klasse\n", ["form", "klasse"], 1),
        ("word NN\n", None, None),
        ("tag pos\n", None, None),
        ("text\n", None, None),
    ],
)
def test_rows_of_headings_are_told_from_words(tmp_path, first, fields, expected) -> None:
    path = tmp_path / "a.txt"
    body = "\t".join if "\t" in first else " ".join
    path.write_text(first + body(["x"] * len(first.splitlines()[-1].split())) + "\n", "utf-8")
    warnings = pn.open_corpus(path, format="columns", fields=fields).warnings
    assert [w.removeprefix(f"{path}:").partition(":")[0] for w in warnings] == (
        [] if expected is None else [str(expected)]
    )


@pytest.mark.parametrize("verb", ["evaluate", "calibrate", "compress"])
def test_text_that_was_trained_on_is_told_once(cli, tmp_path, model, verb) -> None:
    train = str(tmp_path / "train.txt")
    arguments = {
        "evaluate": ["evaluate", model, train],
        "calibrate": ["calibrate", model, train],
        "compress": ["compress", model, "--size", "3kB", "--dev", train, "-o", model + "2"],
    }[verb]
    told = warnings_in(cli(*arguments).err)
    assert len(told) == 1 and "3 of 3 sampled sentences are in the training text" in told[0]


def test_labels_that_the_output_takes_the_place_of_are_told(cli, tmp_path, model) -> None:
    gold = column_file(tmp_path / "gold.txt")
    outcome = cli("tag", model, str(gold), "-o", str(gold))
    assert outcome.status == 0
    assert warnings_in(outcome.err) == [
        f"warning: {gold}: its own labels are replaced by those of the model; --keep keeps them,"
        " another name after -o keeps the file"
    ]
    for more in (["--keep"], ["--quiet"]):
        assert not warnings_in(cli("tag", model, str(gold), "-o", str(gold), *more).err)
    assert not warnings_in(cli("tag", model, str(gold), "-o", str(tmp_path / "other")).err)
    gold.write_text("The\nboat\n\n", "utf-8")
    again = cli("tag", model, str(gold), "--format", "columns", "-o", str(gold))
    assert again.status == 0 and not warnings_in(again.err)


def test_a_correction_to_a_label_that_occurs_nowhere_is_told(cli, tmp_path) -> None:
    gold = column_file(tmp_path / "gold.txt")
    table = tmp_path / "fix.tsv"
    heads = "file\tline\tword\tform\tgold\texpected\n"
    table.write_text(
        f"{heads}{gold}\t1\t1\tThe\tDET\tPRON\n{gold}\t2\t2\tsmall\tADJ\tADJX\n", "utf-8"
    )
    outcome = cli("doctor", str(gold), "--apply", str(table), "--output", str(tmp_path / "new"))
    assert outcome.status == 0
    assert warnings_in(outcome.err) == [
        f"warning: {table}:3: label 'ADJX' occurs nowhere else in the files; is it mistyped?"
    ]
    assert "small ADJX" in (tmp_path / "new" / "gold.txt").read_text("utf-8")


def test_what_training_leaves_out_of_running_text_is_told(cli, tmp_path) -> None:
    blanks = "\t_" * 8
    row = "1\ta\ta\tX\t_\t_\t_\t_\t_\t_\n"
    long = "".join(f"{n}\tb\tb\tX\t_\t_\t_\t_\t_\t_\n" for n in range(2, 19))
    path = tmp_path / "bare.conllu"
    path.write_text(f"{row}2-18\tbbb{blanks}\n{long}\n" * 3, "utf-8")
    arguments = ["train", str(path), "--column", "all", "--preset", "fast", "--epochs", "1"]
    outcome = cli(*arguments, "--model", str(tmp_path / "a.model"))
    told = warnings_in(outcome.err)
    assert outcome.status == 0 and len(told) == len({*told})
    for fact in (
        "no token has a value: xpos, feats",
        "no token has SpaceAfter=No",
        f"{path}:3: 3 tokens of more than 16 words or 64 characters stay whole",
    ):
        assert sum(fact in line for line in told) == 1, fact
