"""Whether a file could be written, asked before the work that would fill it."""

from __future__ import annotations

from pathlib import Path

import pytest

import perceptron_nlp as pn


def test_a_good_place_is_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"old")
    (tmp_path / "link").symlink_to("old")
    for name in ("old", "new", "link"):
        pn.check_place(tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "old"]
    assert (tmp_path / "old").read_bytes() == b"old"


@pytest.mark.parametrize("name", ["", "nowhere/new", "file/new", "n" * 300, "a\0b"])
def test_a_bad_place_is_refused_as_writing_would_refuse_it(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    path = f"{tmp_path}/{name}"
    with pytest.raises(pn.FileError) as asked:
        pn.check_place(path)
    with pytest.raises(pn.FileError) as written:
        pn.replace_file(path, b"x")
    assert str(asked.value) == str(written.value)
