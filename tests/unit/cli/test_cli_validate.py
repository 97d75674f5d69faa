"""``perceptron-nlp validate``."""

from __future__ import annotations

import json
from pathlib import Path

ROW = "{}\t{}\t_\t{}\t_\t_\t_\t_\t_\t_\n"
GOOD = "# sent_id = 1\n# text = a b\n" + ROW.format(1, "a", "X") + ROW.format(2, "b", "X") + "\n"


def test_findings_are_lines_with_places_and_the_exit_status_is_one(cli, tmp_path: Path) -> None:
    Path("good.conllu").write_text(GOOD)
    Path("bad.conllu").write_text(GOOD.replace("\tX\t", "\tx\t"))
    assert cli("validate", "good.conllu").status == 0
    outcome = cli("validate", "good.conllu", "bad.conllu", "--limit", "1")
    lines = outcome.out.decode().splitlines()
    assert outcome.status == 1
    assert lines[0].startswith("bad.conllu:3: [2 unknown-upos] UPOS 'x' is not one of the 17 tags;")
    assert lines[1] == "2 findings in 2 sentences" and lines[-1].split() == [
        "unknown-upos",
        "2",
        "2",
    ]
    assert cli("validate", "bad.conllu", "--level", "1").status == 0


def test_standard_input_is_judged_and_json_has_what_people_see(cli, tmp_path: Path) -> None:
    outcome = cli(
        "validate", "-", "--to", "json", "--quiet", stdin=GOOD.replace("a b", "ab").encode()
    )
    found = json.loads(outcome.out)
    assert outcome.status == 1 and found["sentences"] == 1
    assert [(one["path"], one["line"], one["rule"]) for one in found["found"]] == [
        ("<stdin>", 3, "missing-spaceafter")
    ]


def test_what_cannot_be_read_is_status_two(cli, tmp_path: Path) -> None:
    assert cli("validate", "nothing.conllu").status == 2
    Path("binary.conllu").write_bytes(bytes(range(32)) * 9)
    assert cli("validate", "binary.conllu").status == 2


def test_the_doctor_shows_them_too(cli, train_file: Path) -> None:
    text = train_file.read_text()
    Path("gold.conllu").write_text(text * 4)
    out = cli("doctor", "gold.conllu", "--folds", "3", "--limit", "2").out.decode()
    assert "against the rules of CoNLL-U" in out and "more rows" in out
