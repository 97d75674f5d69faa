"""Files replaced whole or not at all."""

from __future__ import annotations

import array
import errno
import itertools
import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp.errors import FileError
from perceptron_nlp.formats import replace, replace_file
from perceptron_nlp.formats.replace import replace_files

WRITER = """
import sys
from perceptron_nlp.formats import replace_file
def chunks():
    yield b"new" * 100_000
    print("half", flush=True)
    sys.stdin.read()
    yield b"rest"
replace_file(sys.argv[1], chunks())
"""


def test_a_new_file_holds_the_data_and_nothing_is_left_beside_it(tmp_path):
    replace_file(tmp_path / "x", b"data")
    assert (tmp_path / "x").read_bytes() == b"data"
    replace_file(tmp_path / "x", (piece for piece in (b"more", b"", b" data")))
    assert (tmp_path / "x").read_bytes() == b"more data"
    assert os.listdir(tmp_path) == ["x"]


def test_a_new_file_has_the_permissions_of_the_user_and_an_old_one_keeps_its_own(tmp_path):
    mask = os.umask(0o027)
    try:
        replace_file(tmp_path / "new", b"")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    (tmp_path / "new").chmod(0o604)
    replace_file(tmp_path / "new", b"x")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o604


def test_a_symbolic_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there/target")
    for data in (b"one", b"two"):
        replace_file(tmp_path / "link", data)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "there/target").read_bytes() == data
    assert os.listdir(tmp_path / "there") == ["target"]


def test_data_that_fails_on_the_way_leaves_the_old_file(tmp_path):
    def failing():
        yield b"new"
        raise KeyboardInterrupt

    (tmp_path / "x").write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        replace_file(tmp_path / "x", failing())
    assert (tmp_path / "x").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["x"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch, call):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "x").write_bytes(b"old")
    monkeypatch.setattr(os, call, full)
    with pytest.raises(FileError, match=r"x: cannot be written: No space left on device$"):
        replace_file(tmp_path / "x", b"new")
    assert (tmp_path / "x").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["x"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_a_full_device_is_a_clear_error():
    with pytest.raises(FileError, match="/dev/full: cannot be written: No space left"):
        replace_file("/dev/full", b"data")


def test_devices_and_pipes_are_simply_written_to(tmp_path):
    replace_file(os.devnull, b"data")
    assert not os.path.isfile(os.devnull)
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    replace_file(tmp_path / "pipe", [b"da", b"ta"])
    assert os.read(reader, 100) == b"data"
    os.close(reader)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_standard_output_is_written_to_as_dev_stdout():
    code = "from perceptron_nlp.formats import replace_file; replace_file('/dev/stdout', b'data')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == b"data"


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="there is no /proc here")
def test_a_regular_file_is_replaced_whole_whatever_its_path_begins_with(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def failing():
        yield b"new"
        raise KeyboardInterrupt

    (tmp_path / "x").write_bytes(b"old")
    for path in ("/proc/self/cwd/x", f"/dev/..{tmp_path}/x", f"/proc/../dev/..{tmp_path}/x"):
        with pytest.raises(KeyboardInterrupt):
            replace_file(path, failing())
        assert (tmp_path / "x").read_bytes() == b"old"
    replace_file("/proc/self/cwd/y", b"data")
    assert (tmp_path / "y").read_bytes() == b"data"
    assert sorted(os.listdir(tmp_path)) == ["x", "y"]


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="there is no /dev/fd here")
def test_an_open_descriptor_is_written_to_where_it_stands(tmp_path):
    (tmp_path / "log").write_bytes(b"old\n")
    (tmp_path / "link").symlink_to("/dev/stdout")
    code = (
        "import sys; from perceptron_nlp.formats import check_place, replace_file\n"
        "for name in sys.argv[1:]: check_place(name); replace_file(name, [name.encode(), b' '])"
    )
    names = ["/dev/stdout", "/dev/fd/1", str(tmp_path / "link"), "/dev/../dev/fd/1"]
    with open(tmp_path / "log", "ab") as log:
        before = os.fstat(log.fileno()).st_ino
        subprocess.run([sys.executable, "-c", code, *names], stdout=log, check=True)
    assert (tmp_path / "log").read_text() == "old\n" + " ".join(names) + " "
    assert (tmp_path / "log").stat().st_ino == before
    assert sorted(os.listdir(tmp_path)) == ["link", "log"]


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="there is no /dev/fd here")
def test_a_descriptor_that_cannot_be_written_to_is_a_clear_error(tmp_path):
    (tmp_path / "x").write_bytes(b"old")
    with open(tmp_path / "x", "rb") as reader:
        with pytest.raises(FileError, match="cannot be written: Bad file descriptor"):
            replace_file(f"/dev/fd/{reader.fileno()}", b"data")
        (tmp_path / "x").unlink()
        with open(tmp_path / "x", "xb") as writer:
            (tmp_path / "x").unlink()
            replace_file(f"/dev/fd/{writer.fileno()}", b"a file without a name")
            assert os.fstat(writer.fileno()).st_size == 21
    for name in ("999999999", "9" * 30):
        with pytest.raises(FileError, match="cannot be written: "):
            replace_file(f"/dev/fd/{name}", b"data")
    assert os.listdir(tmp_path) == []


def test_what_others_name_like_a_temporary_file_is_neither_opened_nor_removed(tmp_path):
    names = []

    def spying():
        names.extend(set(os.listdir(tmp_path)) - {"x"})
        yield b"new"

    replace_file(tmp_path / "x", spying())
    mark = names[0][: names[0].index("-", len(".perceptron-nlp-"))]
    os.mkfifo(tmp_path / f"{mark}-{os.getpid()}-0.part")
    os.mkfifo(tmp_path / names[0])
    (tmp_path / f"{mark}-folder.part").mkdir()
    (tmp_path / f"{mark}-link.part").symlink_to("x")
    before = sorted(os.listdir(tmp_path))
    replace_file(tmp_path / "x", b"newer")
    assert (tmp_path / "x").read_bytes() == b"newer"
    assert sorted(os.listdir(tmp_path)) == before


def test_no_two_temporary_files_have_a_name_in_common(tmp_path):
    names = set()

    def spying():
        names.update(set(os.listdir(tmp_path)) - {"x"})
        yield b""

    for _ in range(3):
        replace_file(tmp_path / "x", spying())
    assert len(names) == 3


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o604, 0o700])
def test_nobody_else_can_read_what_is_being_written(tmp_path, mode):
    seen = []

    def spying():
        for entry in os.scandir(tmp_path):
            if entry.name != "x":
                seen.append(stat.S_IMODE(entry.stat().st_mode))
        yield b"new"

    (tmp_path / "x").write_bytes(b"old")
    (tmp_path / "x").chmod(mode)
    replace_file(tmp_path / "x", spying())
    assert seen == [0o600]
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_owner_and_group_stay(tmp_path):
    (tmp_path / "x").write_bytes(b"old")
    os.chown(tmp_path / "x", 12345, 54321)
    (tmp_path / "x").chmod(0o4750)
    replace_file(tmp_path / "x", b"new")
    found = (tmp_path / "x").stat()
    assert (found.st_uid, found.st_gid) == (12345, 54321)
    assert stat.S_IMODE(found.st_mode) == 0o4750


def test_a_group_that_cannot_be_kept_gets_what_everybody_has(tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", refused)
    stats = os.fstat

    def another_owner(descriptor):
        fields = list(stats(descriptor))
        fields[5] += 1
        return os.stat_result(fields)

    for mode, expected in ((0o660, 0o600), (0o4664, 0o644), (0o640, 0o600), (0o606, 0o666)):
        (tmp_path / "x").write_bytes(b"old")
        (tmp_path / "x").chmod(mode)
        with mock.patch.object(os, "fstat", another_owner):
            replace_file(tmp_path / "x", b"new")
        assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == expected


def test_several_files_take_their_names_in_order_and_none_before_all_are_on_disk(
    tmp_path, monkeypatch
):
    (tmp_path / "a").write_bytes(b"old")

    def failing():
        yield b"new"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        replace_files([(tmp_path / "a", b"new"), (tmp_path / "b", failing())])
    assert os.listdir(tmp_path) == ["a"] and (tmp_path / "a").read_bytes() == b"old"
    order = []
    renamed = os.replace

    def noting(source, target):
        order.append((os.path.basename(target), len(os.listdir(tmp_path))))
        renamed(source, target)

    monkeypatch.setattr(os, "replace", noting)
    replace_files([(tmp_path / "b", b"1"), (tmp_path / "a", b"2")])
    assert order == [("b", 3), ("a", 3)]
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("", "is a folder; name a file"),
        ("no/x", "cannot be written: No such file or directory"),
        ("file/x", "cannot be written: Not a directory"),
        ("a\0b", "cannot be the name of a file"),
    ],
)
def test_a_place_that_cannot_be_written_is_a_clear_error(tmp_path, place, message):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FileError, match=message) as caught:
        replace_file(f"{tmp_path}/{place}", b"data")
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_place_is_a_clear_error(tmp_path):
    (tmp_path / "x").write_bytes(b"old")
    tmp_path.chmod(0o555)
    with pytest.raises(FileError, match="x: cannot be written: Permission denied"):
        replace_file(tmp_path / "x", b"new")
    tmp_path.chmod(0o755)
    (tmp_path / "x").chmod(0o444)
    with pytest.raises(FileError, match="x: is read-only"):
        replace_file(tmp_path / "x", b"new")
    assert (tmp_path / "x").read_bytes() == b"old"


def test_a_name_as_long_as_can_be_is_replaced(tmp_path):
    replace_file(tmp_path / ("x" * 255), b"data")
    assert (tmp_path / ("x" * 255)).read_bytes() == b"data"


def start(target):
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(target)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert writer.stdout.readline() == b"half\n"
    return writer


def end(writer):
    writer.communicate()
    return writer.returncode


def test_a_killed_run_leaves_the_old_file_and_the_next_cleans_up(tmp_path):
    (tmp_path / "x").write_bytes(b"old")
    (tmp_path / ".perceptron-nlp-other.part").write_bytes(b"of another target")
    for _ in range(2):
        writer = start(tmp_path / "x")
        writer.send_signal(signal.SIGKILL)
        assert end(writer) == -signal.SIGKILL
        assert (tmp_path / "x").read_bytes() == b"old"
        assert len(os.listdir(tmp_path)) == 3
    replace_file(tmp_path / "x", b"new")
    assert sorted(os.listdir(tmp_path)) == [".perceptron-nlp-other.part", "x"]


def test_a_run_that_is_still_writing_is_not_disturbed(tmp_path):
    writer = start(tmp_path / "x")
    replace_file(tmp_path / "x", b"quick")
    assert (tmp_path / "x").read_bytes() == b"quick"
    assert end(writer) == 0
    assert (tmp_path / "x").read_bytes() == b"new" * 100_000 + b"rest"
    assert os.listdir(tmp_path) == ["x"]


@given(sizes=st.lists(st.integers(0, 40), max_size=12), most=st.integers(1, 30))
def test_pieces_of_any_size_are_written_whole_and_in_order(sizes, most):
    text = bytes(range(256)) * 2
    ends = list(itertools.accumulate(sizes, initial=0))
    pieces = [text[start:end] for start, end in itertools.pairwise(ends)]
    at_once = os.writev

    def some(descriptor, parts):
        return at_once(descriptor, [b"".join(parts)[:most]])

    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.object(replace, "_BLOCK", 16),
        mock.patch.object(os, "writev", some),
    ):
        # Memory that is used again for the next piece.
        memory = bytearray(40)

        def reused():
            for piece in pieces:
                memory[: len(piece)] = piece
                with memoryview(memory)[: len(piece)] as view:
                    yield view

        replace_file(f"{folder}/x", reused())
        with open(f"{folder}/x", "rb") as file:
            assert file.read() == b"".join(pieces)


def test_views_of_larger_items_are_written_as_their_bytes(tmp_path):
    numbers = array.array("I", range(100_000))
    replace_file(tmp_path / "x", [b"begin", memoryview(numbers), memoryview(numbers)[:3]])
    assert (tmp_path / "x").read_bytes() == b"begin" + numbers.tobytes() + numbers[:3].tobytes()


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


@pytest.mark.parametrize("write", [pn.write_conllu, pn.write_columns, pn.write_tagged])
@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ([["dogs", "bark"]], "sentences[0]: a Sentence is needed, not list"),
        (3, "sentences: an iterable of Sentence objects is needed, not int"),
    ],
)
def test_only_sentences_are_written(
    tmp_path: Path, write: Callable[..., None], sentences: object, message: str
) -> None:
    (tmp_path / "old").write_bytes(b"old")
    with pytest.raises(pn.ArgumentTypeError, match=re.escape(message)):
        write(sentences, tmp_path / "old")
    assert (tmp_path / "old").read_bytes() == b"old"
