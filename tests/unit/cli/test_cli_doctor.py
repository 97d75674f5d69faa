"""``perceptron-nlp doctor``."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.analysis.doctor.diagnosis import TABLE_COLUMNS


@pytest.fixture
def gold(train_file: Path) -> Path:
    """A file in which one DET is labeled VERB."""
    text = train_file.read_text() * 4
    at = text.rindex("\tDET\t")
    Path("gold.conllu").write_text(text[:at] + "\tVERB\t" + text[at + 5 :])
    return Path("gold.conllu")


def test_the_planted_error_is_shown_with_its_place(cli, gold: Path) -> None:
    outcome = cli("doctor", gold, "--folds", "3", "--limit", "1")
    text = outcome.out.decode()
    line = next(
        n for n, row in enumerate(gold.read_text().splitlines(), 1) if "the\tthe\tVERB" in row
    )
    assert outcome.status == 0
    row = next(row for row in text.splitlines() if row.startswith("gold.conllu:"))
    assert row.split()[:3] == [f"gold.conllu:{line}", "VERB", "DET"]
    assert "[the]" in text and "taggers trained on other sentences expect it" in text
    assert "copies of others" in text


def test_certainty_is_worded_by_how_far_the_taggers_agree(cli, gold: Path) -> None:
    found = pn.doctor(gold, folds=3)
    assert 0.5 < found.tagger_agreement < 1
    said = f"taggers that have not seen a sentence agree with {100 * found.tagger_agreement:.1f} %"
    assert found.certainty.startswith(said)
    out = " ".join(cli("doctor", gold, "--folds", "3").out.decode().split())
    assert " ".join(found.certainty.split()) in out
    sure, fair, weak = (replace(found, tagger_agreement=x).certainty for x in (0.98, 0.95, 0.9))
    assert "likely errors" in sure and "many are errors" in fair and "own mistakes" in weak


def test_an_edited_table_goes_back_in_whatever_folder_the_files_stand(
    cli, refuses, gold: Path, train_file: Path
) -> None:
    Path("old").mkdir()
    gold.rename("old/gold.conllu")
    cli("doctor", "old/gold.conllu", "--folds", "3", "--fix-list", "fix.tsv", "--limit", "1")
    Path("old").rename("moved")
    outcome = cli("doctor", "moved/gold.conllu", "--apply", "fix.tsv", "--output", "new")
    assert outcome.out == b"new: 1 label changed in 1 file\n"
    assert Path("new/gold.conllu").read_bytes() == train_file.read_bytes() * 4
    row = Path("fix.tsv").read_text().splitlines()[1]
    with open("fix.tsv", "a") as table:
        table.write(row.replace("old/", "older/") + "\n")
    message = refuses("doctor", "moved/gold.conllu", "--apply", "fix.tsv", "--output", "next")
    assert "moved/gold.conllu may be old/gold.conllu or older/gold.conllu" in message


def test_json_holds_all_that_python_gives(cli, gold: Path) -> None:
    arguments = ("doctor", gold, "--to", "json", "--folds", "3", "--seed", "2")
    found = json.loads(cli(*arguments).out)
    assert found == json.loads(json.dumps(pn.doctor(gold, folds=3, seed=2).to_dict()))
    assert found["candidates"]
    assert json.loads(cli(*arguments, "--limit", "1", "--threads", "2").out) == found


def test_the_fix_list_is_a_table(cli, gold: Path) -> None:
    outcome = cli("doctor", gold, "--folds", "3", "--fix-list", "fix.tsv", "--quiet")
    rows = [line.split("\t") for line in Path("fix.tsv").read_text().splitlines()]
    assert tuple(rows[0]) == TABLE_COLUMNS
    assert {len(row) for row in rows} == {len(TABLE_COLUMNS)}
    found = pn.doctor(gold, folds=3)
    assert [(row[0], int(row[1]), row[5], row[7], row[8]) for row in rows[1:]] == [
        (one.path, one.line, one.form, one.gold, one.expected) for one in found.candidates
    ]
    assert outcome.status == 0 and outcome.err == ""


@pytest.mark.parametrize("width", [20, 60])
def test_no_line_is_wider_than_the_terminal(
    cli, gold: Path, on_terminal: Callable[[int], None], width: int
) -> None:
    on_terminal(width)
    lines = cli("doctor", gold, "--folds", "3").out.decode().splitlines()
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--limit", "0"], "--limit: 0 is less than 1"),
        (["--folds", "1"], "--folds"),
        (["--folds", "9"], "--folds: 9 is more than the 5 different sentences"),
        (["--column", "nope"], "no column 'nope'"),
        (["--column", "xpos"], "no word has a label in column 'xpos'"),
        (["--evidence", "nope"], "no column 'nope'"),
        (["--evidence", "upos"], "--evidence: 'upos' cannot be evidence"),
        (["--fix-list", "gold.conllu"], "would be overwritten"),
        (["--fix-list", "no/where.tsv"], "no/where.tsv"),
        (["--apply", "no.tsv", "--output", "new"], "no.tsv: there is no such file"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    cli, gold: Path, arguments: list[str], message: str
) -> None:
    outcome = cli("doctor", gold, "--quiet", *arguments)
    assert (outcome.status, outcome.out) == (2, b"")
    assert message in outcome.message


def test_a_file_of_one_sentence_is_refused_and_why(cli) -> None:
    Path("one.tagged").write_text("The/DET dog/NOUN\n")
    outcome = cli("doctor", "one.tagged", "--quiet")
    assert outcome.status == 2
    assert "one.tagged: there is one sentence alone" in outcome.message


def test_a_table_that_was_gone_through_corrects_a_copy_and_nothing_else(
    cli, gold: Path, train_file: Path
) -> None:
    cli("doctor", gold, "--folds", "3", "--fix-list", "fix.tsv", "--limit", "1", "--quiet")
    outcome = cli("doctor", gold, "--apply", "fix.tsv", "--output", "new")
    assert outcome.out == b"new: 1 label changed in 1 file\n"
    assert Path("new/gold.conllu").read_bytes() == train_file.read_bytes() * 4
    edited = Path("fix.tsv").read_text().replace("\tDET\t", "\tNUM\t")
    Path("edited.tsv").write_text(edited.replace("\n", "\r\n"))
    cli("doctor", gold, "--apply", "edited.tsv", "--output", "new")
    before, after = gold.read_text().splitlines(), Path("new/gold.conllu").read_text().splitlines()
    changed = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    assert changed == [(a, a.replace("\tVERB\t", "\tNUM\t")) for a, _ in changed]
    assert len(changed) == 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\tthe\t", "\tThe\t", "fix.tsv:2: form 'The', but in the file stands 'the'"),
        ("\tVERB\t", "\tNOUN\t", "fix.tsv:2: gold 'NOUN', but in the file stands 'VERB'"),
        ("gold.conllu\t", "other.conllu\t", "fix.tsv:2: there is no word"),
        ("\tDET\t", "\t\t", "fix.tsv:2: there is no label under expected"),
        ("\tDET\t", "\t", "fix.tsv:2: 10 cells under 11 headings"),
        ("file\t", "path\t", "fix.tsv:1: there is no column 'file'"),
    ],
)
def test_a_table_that_does_not_fit_changes_nothing(
    cli, gold: Path, old: str, new: str, message: str
) -> None:
    cli("doctor", gold, "--folds", "3", "--fix-list", "fix.tsv", "--limit", "1", "--quiet")
    table = Path("fix.tsv").read_text()
    assert old in table
    Path("fix.tsv").write_text(table.replace(old, new, 1))
    outcome = cli("doctor", gold, "--apply", "fix.tsv", "--output", "new")
    assert outcome.status == 2 and message in outcome.message
    assert not Path("new").exists()


def test_files_are_never_overwritten_by_their_corrections(cli, gold: Path) -> None:
    cli("doctor", gold, "--folds", "3", "--fix-list", "fix.tsv", "--limit", "1", "--quiet")
    assert (
        "would be overwritten" in cli("doctor", gold, "--apply", "fix.tsv", "--output", ".").message
    )
    assert "one does not go without" in cli("doctor", gold, "--apply", "fix.tsv").message
    assert (
        "another file is called"
        in cli("doctor", gold, gold, "--apply", "fix.tsv", "--output", "new").message
    )


def test_copies_of_packed_files_are_unpacked_under_names_that_say_so(cli, gold: Path) -> None:
    Path("gold.conllu.gz").write_bytes(gzip.compress(gold.read_bytes()))
    assert cli("doctor", "gold.conllu.gz", "--folds", "3", "--fix-list", "fix.tsv").status == 0
    assert cli("doctor", "gold.conllu.gz", "--apply", "fix.tsv", "--output", "new").status == 0
    assert [path.name for path in Path("new").iterdir()] == ["gold.conllu"]
    before, after = gold.read_text().splitlines(), Path("new/gold.conllu").read_text().splitlines()
    n_rows = len(Path("fix.tsv").read_text().splitlines()) - 1
    assert sum(a != b for a, b in zip(before, after, strict=True)) == n_rows > 0


def test_a_long_path_leaves_room_for_the_labels_and_is_whole_in_a_pipe(
    cli, gold: Path, on_terminal: Callable[[int], None]
) -> None:
    path = Path("folder/" * 20 + "gold.conllu")
    path.parent.mkdir(parents=True)
    gold.rename(path)
    arguments = ("doctor", path, "--folds", "3", "--limit", "1", "--quiet")
    whole = cli(*arguments).out.decode().splitlines()
    row = next(line for line in whole if line.startswith(f"{path}:"))
    assert "…" not in row
    on_terminal(80)
    shown = cli(*arguments).out.decode().splitlines()[whole.index(row)]
    assert len(shown) <= 80 and shown.split()[1:] == row.split()[1:]


def test_no_cell_is_a_formula_and_the_table_still_corrects_the_file(cli) -> None:
    formula = "=cmd|' /C calc'!A0".replace(" ", "\u00a0")
    rows = random.Random(1).choices([("a", "X"), (formula, "+Y"), ("b", "@Z")], k=120)
    rows[rows.index((formula, "+Y"), 50)] = (formula, "=W")
    text = "".join(
        "".join(
            f"{i}\t{w}\t_\t_\t{x}\t_\t_\t_\t_\t_\n" for i, (w, x) in enumerate(rows[k : k + 3], 1)
        )
        + "\n"
        for k in range(0, len(rows), 3)
    )
    Path("gold.conllu").write_text(text)
    how = ("doctor", "gold.conllu", "--column", "xpos", "--quiet")
    assert cli(*how, "--fix-list", "fix.tsv").status == 0
    cells = [row.split("\t") for row in Path("fix.tsv").read_text("utf-8").splitlines()[1:]]
    assert [(row[5], row[7], row[8]) for row in cells] == [("'" + formula, "'=W", "'+Y")]
    assert not [cell for row in cells for cell in row if cell.startswith(tuple("=+-@"))]
    assert cli(*how, "--apply", "fix.tsv", "--output", "new").status == 0
    assert Path("new/gold.conllu").read_text() == text.replace("\t=W\t", "\t+Y\t")


def test_labels_with_joiners_and_no_break_spaces_go_through_the_table_as_they_are(cli) -> None:
    lemmas = {"نمی\u200cروم": "رفتن\u200cها", "क्\u200dष": "क्\u200dष", "10\u00a0000": "10\u00a0000"}
    words = random.Random(1).choices(list(lemmas), k=120)
    rows = [(word, lemmas[word]) for word in words]
    for word in lemmas:
        rows[words.index(word, 50)] = (word, "x")
    sentences = [
        pn.Sentence(
            [word for word, _ in rows[at : at + 3]], {"lemma": [x for _, x in rows[at : at + 3]]}
        )
        for at in range(0, len(rows), 3)
    ]
    pn.write_conllu(sentences, "gold.conllu")
    cli("doctor", "gold.conllu", "--column", "lemma", "--fix-list", "fix.tsv")
    outcome = cli(
        *("doctor", "gold.conllu", "--column", "lemma", "--apply", "fix.tsv", "--output", "new")
    )
    assert outcome.out == b"new: 3 labels changed in 1 file\n"
    found = [
        pair
        for s in pn.read_conllu("new/gold.conllu")
        for pair in zip(s, s.column("lemma"), strict=True)
    ]
    assert found == [(word, lemmas[word]) for word, _ in rows]


def test_a_label_that_the_file_cannot_hold_is_named_with_its_row(cli, refuses, gold: Path) -> None:
    cli("doctor", gold, "--folds", "3", "--fix-list", "fix.tsv", "--limit", "1")
    table = Path("fix.tsv").read_text().replace("\tVERB\tDET\t", "\tVERB\tD T\t")
    Path("fix.tsv").write_text(table)
    message = refuses("doctor", gold, "--apply", "fix.tsv", "--output", "new")
    assert message.startswith("fix.tsv:2: ") and "'D T' holds a space" in message
