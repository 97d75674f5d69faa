"""Files replaced on Windows, by stand-ins for its calls: open files cannot move."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from perceptron_nlp.formats import replace, replace_file
from perceptron_nlp.formats.replace import replace_files


@pytest.fixture(autouse=True)
def opened(monkeypatch: pytest.MonkeyPatch) -> list[replace.FileIO]:
    """A system without locks and gathered writes; the files that the writer has opened."""
    files: list[replace.FileIO] = []

    class Watched(replace.FileIO):
        def __init__(self, *args: object, **options: object) -> None:
            super().__init__(*args, **options)
            files.append(self)

    def refuse_open_files(*paths: str | os.PathLike[str]) -> None:
        for path in paths:
            if any(not f.closed and str(f.name) == os.fspath(path) for f in files):
                raise PermissionError(13, "The process cannot access the file", os.fspath(path))

    move, remove = os.replace, os.unlink

    def replace_closed(old: str, new: str) -> None:
        refuse_open_files(old, new)
        move(old, new)

    def unlink_closed(path: str) -> None:
        refuse_open_files(path)
        remove(path)

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.delattr(replace, "fcntl", raising=False)
    monkeypatch.delattr(os, "writev", raising=False)
    monkeypatch.setattr(replace, "FileIO", Watched)
    monkeypatch.setattr(os, "replace", replace_closed)
    monkeypatch.setattr(os, "unlink", unlink_closed)
    return files


def test_a_file_is_closed_before_it_takes_its_name(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"old")
    replace_files([(tmp_path / "x", b"new"), (tmp_path / "y", [b"a\n", b"b\r\n"])])
    assert (tmp_path / "x").read_bytes() == b"new"
    assert (tmp_path / "y").read_bytes() == b"a\nb\r\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x", "y"]


def test_data_that_fails_on_the_way_leaves_the_old_file_and_nothing_beside_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "x").write_bytes(b"old")

    def chunks():
        yield b"new"
        raise ValueError

    with pytest.raises(ValueError):
        replace_file(tmp_path / "x", chunks())
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]


def test_what_a_killed_run_left_is_removed_and_what_another_is_writing_stays(
    tmp_path: Path, opened: list[replace.FileIO]
) -> None:
    prefix = replace._prefix(str(tmp_path / "x"))
    left, busy = Path(f"{prefix}dead.part"), Path(f"{prefix}alive.part")
    left.write_bytes(b"left")
    with replace.FileIO(str(busy), "w"):
        replace_file(tmp_path / "x", b"new")
        assert not left.exists() and busy.exists()
    assert len(opened) == 2


def test_a_device_is_written_to_without_a_change_of_line_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    binary, flags_of = 0o100000, {}
    open_here = os.open

    def open_and_tell(path, flags, *args, **options):
        flags_of[path] = flags
        return open_here(path, flags, *args, **options)

    monkeypatch.setattr(os, "O_BINARY", binary, raising=False)
    monkeypatch.setattr(os, "open", open_and_tell)
    replace_file(os.devnull, b"line\n")
    assert flags_of[os.devnull] & binary
