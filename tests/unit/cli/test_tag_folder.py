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


TEXTS = {
    "a.txt": "She came. He slept.\n",
    "b.txt": "Who knows?\n",
    "c.conllu": "1\tWho" + "\t_" * 8,
}


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Texts in two formats, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "in" / name).write_text(text + "\n")
    return [f"in/{name}" for name in TEXTS]


@pytest.mark.parametrize("threads", ["1", "2", "8"])
@pytest.mark.parametrize("into", [["-o", "out/"], ["--outfile", "out/{}.conllu"]])
def test_each_file_gets_one_of_its_own(
    texts: list[str], into: list[str], threads: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tag", "en", *texts, *into, "--threads", threads]) == 0
    assert "files tagged: 3, not tagged: 0" in capsys.readouterr().err
    assert sorted(os.listdir("out")) == ["a.conllu", "b.conllu", "c.conllu"]
    for path in texts:
        assert main(["tag", "en", path, "-o", "alone.conllu", "--quiet"]) == 0
        name = Path(path).with_suffix(".conllu").name
        assert Path("out", name).read_bytes() == Path("alone.conllu").read_bytes()


def test_a_folder_that_is_there_gets_the_files_too(texts: list[str]) -> None:
    os.mkdir("out")
    assert main(["tag", "en", texts[0], "-o", "out", "--column", "upos", "--quiet"]) == 0
    assert Path("out/a.tagged").read_text().startswith("She/PRON came/VERB")
    assert main(["tag", "en", texts[0], "--outfile", "{}.gz", "--quiet"]) == 0
    assert Path("a.gz").read_bytes().startswith(b"\x1f\x8b")


def test_a_file_that_is_wrong_keeps_no_other_from_its_own(
    texts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("in/bad.conllu").write_text("1\tWho\n\n")
    assert main(["tag", "en", *texts, "in/bad.conllu", "-o", "out/"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[-1].startswith("perceptron-nlp: in/bad.conllu:1: ") and len(said) == 2
    assert len(os.listdir("out")) == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["in/a.txt", "in/a.txt", "-o", "out/"], "would become out/a.conllu, and so would in/a"),
        (["in/a.txt", "--outfile", "a.conllu"], "--outfile: 'a.conllu' has no {} for the name"),
        (["in/a.txt", "--outfile", "{}", "-o", "out/"], "--outfile: goes without --output"),
        (["-", "-o", "out/"], "--output: a folder is for files with names"),
        (["in/c.conllu", "-o", "in/"], "in/c.conllu: is an input, and would be overwritten"),
    ],
)
def test_names_that_cannot_be_are_refused(
    texts: list[str], arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tag", "en", *arguments]) == 2
    assert said in capsys.readouterr().err.splitlines()[-1]
    assert sorted(os.listdir("in")) == sorted(TEXTS) and not os.path.exists("out")


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("--tokenize --tag --parse m.udpipe in/a.txt", "leave it out"),
        ("tag en --tokenizer=presegmented in/a.txt", "--format lines"),
        ("--tag en in/a.txt", "perceptron-nlp tag MODEL FILES"),
        ("tag en --parse in/a.txt", "docs/migrating/udpipe.md"),
        ("tag en --input=horizontal in/a.txt", "--format lines"),
        ("tag en --input vertical in/a.txt", "--format columns"),
        ("tag en --output=conllu in/a.txt", "--to conllu"),
        ("tag en in/a.txt --output horizontal", "--column text --to lines"),
        ("--accuracy --tag en in/a.txt", "perceptron-nlp evaluate MODEL FILE"),
        ("--train en.model in/a.txt", "perceptron-nlp train FILES"),
        ("tag m.udpipe in/a.txt", "a model of UDPipe (perceptron-nlp train"),
    ],
)
def test_what_users_of_udpipe_type_is_answered_with_our_word(
    texts: list[str], line: str, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("m.udpipe").write_bytes(b"\x12morphodita_parsito\x03" + bytes(40))
    assert main(line.split()) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert word in said


def test_a_list_of_abbreviations_is_not_overwritten(
    texts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkdir("out")
    Path("out/a.conllu").write_text("Dr.\n", "utf-8")
    options = ["--abbreviations", "out/a.conllu", "-o", "out/"]
    assert main(["tag", "en", "in/a.txt", *options]) == 2
    assert "out/a.conllu: is an input, and would be overwritten" in capsys.readouterr().err
    assert Path("out/a.conllu").read_text("utf-8") == "Dr.\n"
