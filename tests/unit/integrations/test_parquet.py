"""Parquet files on the command line: columns of labels added, everything else as it was."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import perceptron_nlp as pn
from perceptron_nlp.cli.main import main

pa = pytest.importorskip("pyarrow", reason="the extra arrow is not installed")
import pyarrow.parquet as pq  # noqa: E402

ROWS = [["The", "old", "man"], None, [], ["Stop", "!"], ["Coffee", "first"]]


@pytest.fixture
def place(tmp_path: Path, tagger: pn.Tagger, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a model and a file of three row groups."""
    monkeypatch.chdir(tmp_path)
    tagger.save("a.model")
    table = pa.table({"id": range(5), "tokens": ROWS}).replace_schema_metadata({"by": "us"})
    pq.write_table(table, "in.parquet", row_group_size=2, compression="zstd")
    return tmp_path


def message(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The last line of a command that is refused."""
    assert main(["tag", *arguments]) == 2
    return capfd.readouterr().err.splitlines()[-1]


def test_a_column_of_labels_is_added_and_all_else_stays(
    place: Path, tagger: pn.Tagger, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["tag", "a.model", "in.parquet", "-o", "out.parquet"]) == 0
    assert capfd.readouterr().err == "in.parquet: read as parquet\n"
    before, after = pq.ParquetFile("in.parquet"), pq.ParquetFile("out.parquet")
    assert after.num_row_groups == before.num_row_groups == 3
    assert after.metadata.row_group(0).column(1).compression == "ZSTD"
    table = after.read()
    assert table.drop_columns("tag").equals(before.read())
    assert table.schema.metadata[b"by"] == b"us"
    assert table["tag"].to_pylist() == [None if row is None else tagger.tag(row) for row in ROWS]


def test_columns_are_chosen_and_named(place: Path, three: pn.Tagger) -> None:
    three.save("three.model")
    run = ["tag", "three.model", "in.parquet", "--quiet", "-o", "out.parquet"]
    assert main([*run, "--column", "feats,upos"]) == 0
    assert pq.read_table("out.parquet").column_names == ["id", "tokens", "upos", "feats"]
    assert main([*run, "--lexicon", lexicon(place), "--threads", "2"]) == 0
    assert pq.read_table("out.parquet")["upos"].to_pylist()[3] == ["PUNCT", "PUNCT"]
    assert main(["tag", "a.model", "in.parquet", "-o", "in.parquet", "--column", "mine"]) == 0
    assert pq.read_table("in.parquet").column_names == ["id", "tokens", "mine"]


def lexicon(place: Path) -> str:
    (place / "lexicon.tsv").write_text("Stop\tPUNCT\n!\tPUNCT\n")
    return "lexicon.tsv"


def test_a_file_without_rows_gets_a_column_without_rows(place: Path) -> None:
    pq.write_table(pa.table({"tokens": pa.array([], pa.list_(pa.string()))}), "empty")
    assert main(["tag", "a.model", "empty", "--format", "parquet", "-o", "out", "--quiet"]) == 0
    assert pq.read_table("out").schema.names == ["tokens", "tag"]


def test_the_file_goes_to_standard_output_where_that_is_no_terminal(
    place: Path, capfdbinary: Any
) -> None:
    assert main(["tag", "a.model", "in.parquet", "--quiet"]) == 0
    assert pq.read_table(pa.BufferReader(capfdbinary.readouterr().out)).num_rows == 5


def test_what_fails_on_the_way_leaves_the_old_file(
    place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pq.write_table(
        pa.table({"tokens": [["a"], ["b"], ["c", None]]}), "in.parquet", row_group_size=1
    )
    (place / "out.parquet").write_bytes(b"old")
    said = message(capfd, "a.model", "in.parquet", "-o", "out.parquet")
    assert said == (
        "perceptron-nlp: in.parquet: column tokens[2][1]: is null, where a word is"
        " needed; fill or drop null words first (a whole row may be null)"
    )
    assert (place / "out.parquet").read_bytes() == b"old"
    assert sorted(p.name for p in place.iterdir()) == ["a.model", "in.parquet", "out.parquet"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["in.parquet", "--tokens-column", "no"], "--tokens-column: 'no': there is no such column"),
        (["in.parquet", "in.parquet"], "in.parquet: Parquet files are tagged one at a time"),
        (["in.parquet", "--keep"], "--keep: does not go with Parquet files"),
        (["in.parquet", "--fields", "a"], "--fields: does not go with Parquet files"),
        (["in.parquet", "--threads", "0"], "--threads: 0 is not between"),
        (["in.parquet", "--column", "a,b"], "--column: this model fills one only"),
        (["bad.parquet"], "bad.parquet: is no Parquet file that can be read"),
        (["gone.parquet"], "gone.parquet: there is no such file"),
        (["--format", "parquet"], "--format: Parquet cannot be read from standard input"),
        (["bad.txt", "--tokens-column", "x"], "--tokens-column: is for Parquet files"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    place: Path, capfd: pytest.CaptureFixture[str], arguments: list[str], expected: str
) -> None:
    for name in ("bad.parquet", "bad.txt"):
        (place / name).write_text("text")
    assert message(capfd, "a.model", *arguments, "-o", "out").startswith(
        f"perceptron-nlp: {expected}"
    )
    assert not (place / "out").exists()


def test_without_pyarrow_the_extra_is_named(
    place: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("perceptron_nlp.integrations.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert message(capfd, "a.model", "in.parquet", "-o", "out") == (
        'perceptron-nlp: pyarrow is not installed: pip install "perceptron-nlp[arrow]"'
    )


def test_confidences_are_columns_of_the_file(place: Path, sure: pn.Tagger) -> None:
    sure.save("sure.model")
    run = ["tag", "sure.model", "in.parquet", "--quiet", "-o", "out.parquet", "--confidence"]
    assert main([*run, "--column", "upos"]) == 0
    found = pq.read_table("out.parquet")
    assert found.column_names == ["id", "tokens", "upos", "upos_confidence"]
    assert found["upos_confidence"].to_pylist()[0] == pytest.approx(
        sure.confidences(ROWS[0]), abs=1e-6
    )
