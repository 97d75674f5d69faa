"""Folders that become other folders, without an engine: what is done, and what is refused."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.cli.main import main
from perceptron_nlp.cli.tag_folder import FolderPlan, tag_file


def test_what_is_there_and_not_older_is_done(folder: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "new" / "out")
    plan = FolderPlan(str(folder), out, {"model": "m"})
    assert [os.path.relpath(written, out) for _, written in plan.todo] == [
        "a.conllu",
        os.path.join("deeper", "b.conllu"),
        "words.parquet",
    ]
    for read, written in plan.todo:
        Path(written).write_bytes(b"")
        os.utime(written, ns=(0, os.stat(read).st_mtime_ns + 1))
    os.utime(folder / "a.conllu", ns=(0, os.stat(folder / "a.conllu").st_mtime_ns + 2))
    again = FolderPlan(str(folder), out, {"model": "m"})
    assert again.n_done == 2 and [Path(read).name for read, _ in again.todo] == ["a.conllu"]


def test_a_folder_of_other_origin_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "mine.txt").write_text("precious")
    with pytest.raises(pn.FileError, match="has other files already"):
        FolderPlan(str(folder), str(tmp_path / "there"), {})
    assert os.listdir(tmp_path / "there") == ["mine.txt"]
    with pytest.raises(pn.FileError, match="is a file; name a folder"):
        FolderPlan(str(folder), str(tmp_path / "there" / "mine.txt"), {})
    FolderPlan(str(folder), str(tmp_path / "out"), {"model": "m"})
    with pytest.raises(pn.ArgumentError, match=r"model: the files in .* made with 'm', not 'n'"):
        FolderPlan(str(folder), str(tmp_path / "out"), {"model": "n"})
    (tmp_path / "out" / ".perceptron-nlp.json").write_text("[]")
    with pytest.raises(pn.FileError, match="is not the record of tagged files"):
        FolderPlan(str(folder), str(tmp_path / "out"), {"model": "m"})


def test_folders_that_cannot_be_tagged_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(pn.FileError, match="no such folder; name one"):
        FolderPlan(str(tmp_path / "none"), str(tmp_path / "out"), {})
    with pytest.raises(pn.FileError, match="or inside of it, so"):
        FolderPlan(str(folder), str(folder / "out"), {})
    (tmp_path / "empty").mkdir()
    with pytest.raises(pn.FileError, match=r"has no file that ends in \.parquet"):
        FolderPlan(str(tmp_path / "empty"), str(tmp_path / "out"), {})
    with pytest.raises(pn.FileError, match="is the folder of inputs, or inside"):
        FolderPlan(str(folder), str(folder), {})
    (tmp_path / "file").touch()
    with pytest.raises(pn.FileError, match="out: cannot be made: "):
        FolderPlan(str(folder), str(tmp_path / "file" / "out"), {})
    (folder / "a.conllu.gz").write_bytes(b"")
    with pytest.raises(pn.ArgumentError, match="rename one of them"):
        FolderPlan(str(folder), str(tmp_path / "out"), {})
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="/proc is where no folder can be made")
def test_a_folder_that_cannot_be_made_is_named(folder: Path) -> None:
    with pytest.raises(pn.FileError, match="/proc/nowhere/out: cannot be made: "):
        FolderPlan(str(folder), "/proc/nowhere/out", {})


def test_inputs_that_cannot_be_read_are_not_passed_over(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "gone.conllu").symlink_to(folder / "nowhere")
    for _ in range(2):
        plan = FolderPlan(str(folder), str(tmp_path / "out"), {})
        assert str(folder / "gone.conllu") in [read for read, _ in plan.todo]
        (tmp_path / "out" / "gone.conllu").write_bytes(b"")
    scandir = os.scandir

    def refusing(path: str) -> object:
        if path.endswith("deeper"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(pn.FileError, match="deeper: cannot be read: Permission denied"):
        FolderPlan(str(folder), str(tmp_path / "out"), {})


def test_files_that_nothing_may_be_asked_of_are_not_passed_over(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stat = os.stat

    def refusing(path: str | os.PathLike[str], **how: bool) -> os.stat_result:
        if os.path.dirname(path) == str(folder / "deeper"):
            raise PermissionError(13, "Permission denied", path)
        return stat(path, **how)

    monkeypatch.setattr(os, "stat", refusing)
    plan = FolderPlan(str(folder), str(tmp_path / "out"), {})
    assert str(folder / "deeper" / "b.conllu") in [read for read, _ in plan.todo]


def test_a_file_that_is_written_while_it_is_tagged_is_not_done(
    folder: Path, tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pieces(tagger: pn.Tagger, options: object, read: str) -> Iterator[bytes]:
        yield b"half of it"
        Path(read).write_text("other text")

    # What workers tag with is there with pyarrow only.
    arrow = pytest.importorskip(
        "perceptron_nlp.integrations.arrow",
        reason="the extra arrow is not installed",
        exc_type=pn.MissingExtraError,
    )
    monkeypatch.setattr("perceptron_nlp.cli.tag_folder._pieces", pieces)
    files = str(folder / "a.conllu"), str(tmp_path / "a.conllu")
    read, error = tag_file(arrow.ArrowTagger(model), {}, *files)
    assert read == str(folder / "a.conllu") and isinstance(error, pn.FileError)
    assert "a.conllu: was changed while it was tagged" in str(error)
    assert not (tmp_path / "a.conllu").exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ([], "needs a folder of files to tag and one for the outputs"),
        (["in", "out", "-o", "x"], "--output: does not go with --engine"),
        (["in", "out", "--lexicon", "x"], "--lexicon: does not go with --engine"),
        (["in", "out", "--threads", "2"], "--threads: does not go with --engine"),
        (["in", "out", "--confidence"], "--confidence: does not go with --engine"),
        (["in", "out", "--min-confidence", "0.5"], "--min-confidence: does not go with --engine"),
        (["in", "out", "--mark-unknown"], "--mark-unknown: does not go with --engine"),
        (["in", "out", "--to", "tagged"], "--to: does not go with --engine"),
        (["in", "out", "--lines"], "--lines: does not go with --engine"),
        (["in", "out", "--format", "tagged"], "--format: with --engine"),
    ],
    ids=lambda value: value[-1] if value and isinstance(value, list) else None,
)
def test_options_that_do_not_go_with_an_engine_are_named(
    more: list[str], message: str, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tag", "--engine", "ray", str(model), *more]) == 2
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1
