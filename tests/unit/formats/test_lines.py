"""Opening, unpacking, decoding and counting lines."""

import bz2
import gzip
import importlib.util
import io
import lzma
import os
import sys
import tempfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_nlp import load
from perceptron_nlp._core.conllu.conlluscan import ConlluScanner
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, FileError, FormatError
from perceptron_nlp.formats import (
    open_corpus,
    opening,
    read_columns,
    read_conllu,
    read_tagged,
    read_text,
)
from perceptron_nlp.formats.lines import LONGEST, MOST_WORDS, LineSource
from perceptron_nlp.formats.opening import plain_name

TEXT = "one\ntwo\r\n\nthree"


def lines(content, **options):
    return list(LineSource(io.BytesIO(content), **options).lines())


def blocks(content):
    return list(LineSource(io.BytesIO(content)).blocks())


class Trickle(io.RawIOBase):
    """Hands out one byte at a time, as a slow pipe would."""

    def __init__(self, content):
        self._content = io.BytesIO(content)

    def readable(self):
        return True

    def readinto(self, buffer):
        piece = self._content.read(1)
        buffer[: len(piece)] = piece
        return len(piece)


def test_how_the_bytes_arrive_changes_nothing_but_runs_of_empty_lines():
    content = b"\r\n\na\nb\r\n\r\n\n\nc\r\n\nd\n"
    whole, trickled = blocks(content), list(LineSource(Trickle(content)).blocks())
    assert [block for block in trickled if block[1].strip()] == [
        block for block in whole if block[1].strip()
    ]
    assert "".join(text for _, text in trickled).encode() == content
    assert list(LineSource(Trickle(content)).lines()) == lines(content)


def test_an_empty_text_has_no_lines():
    assert lines(b"") == blocks(b"") == []
    assert LineSource(io.BytesIO()).head() == ""


def test_the_head_is_whole_lines_and_is_not_used_up():
    content = b"x" * 99 + b"\n"
    source = LineSource(io.BytesIO(content * 1000))
    assert source.head() == (content * 655).decode()
    assert len(list(source.lines())) == 1000
    assert LineSource(io.BytesIO(b"y" * 100_000)).head() == "y" * 65_536
    assert LineSource(io.BytesIO(b"a\nb")).head() == "a\nb"


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)],
)
def test_files_streams_and_pipes_are_unpacked_by_their_bytes(tmp_path, suffix, pack):
    for name in ("text" + suffix, "text"):
        path = tmp_path / name
        path.write_bytes(pack(TEXT.encode()))
        for source in (path, str(path), io.BytesIO(path.read_bytes()), Trickle(path.read_bytes())):
            with LineSource(source) as opened:
                assert "".join(line for _, line in opened.lines()) == TEXT


def test_a_text_that_begins_as_bzip2_does_is_a_text():
    assert lines(b"BZh9 is a name\n") == [(1, "BZh9 is a name\n")]
    assert lines(bz2.compress(b"")) == []


def test_parts_packed_one_after_the_other_are_one_text():
    assert lines(gzip.compress(b"a\n") + gzip.compress(b"b\n")) == [(1, "a\n"), (2, "b\n")]


def test_minus_is_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n\xff\n")))
    source = LineSource("-").lines()
    assert next(source) == (1, "a\n")
    with pytest.raises(FormatError, match=r"^<stdin>:2: byte 0xff is not valid UTF-8"):
        next(source)


def test_a_stream_of_the_caller_stays_open():
    stream = io.BytesIO(b"a")
    with LineSource(stream) as source:
        assert list(source.lines()) == [(1, "a")]
    assert not stream.closed


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_data_cut_short_or_damaged_is_one_clear_error(tmp_path, pack):
    path = tmp_path / "x"
    packed = pack(os.urandom(3000).hex().encode())
    path.write_bytes(packed[:-40])
    with pytest.raises(FormatError, match=f"^{path}: the compressed data is (cut short|damaged)"):
        list(LineSource(path).lines())
    path.write_bytes(packed[:1000] + bytes(100) + packed[1100:])
    with pytest.raises(FormatError, match=f"^{path}: the compressed data is damaged"):
        list(LineSource(path).lines())


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"a\nb\n", None),
        (gzip.compress(b"a\nb\n", mtime=0), None),
        (gzip.compress(os.urandom(3000).hex().encode())[:-40], "cut short"),
        (b"x\n" * 99_999 + b"\xff\n", "not valid UTF-8"),
        (b"%PDF-1.4", "a PDF file"),
        (bytes(range(32)) * 9, "binary file"),
    ],
)
@pytest.mark.parametrize("way", ["lines", "blocks", "pieces", "head", "take_blocks", "into"])
def test_the_file_is_closed_once_reading_has_ended_in_whatever_way(
    tmp_path, monkeypatch, data, error, way
):
    opened = []

    def noting(*arguments, **options):
        opened.append(open(*arguments, **options))  # noqa: SIM115
        return opened[-1]

    def read(source):
        if way == "head":
            source.head()
        elif way == "take_blocks":
            source.take_blocks(1 << 20)
        elif way == "into":
            while source.take_blocks_into(bytearray(1 << 10)):
                pass
        for _ in (
            source.lines() if way in ("head", "take_blocks", "into") else getattr(source, way)()
        ):
            pass

    monkeypatch.setattr(opening, "open", noting, raising=False)
    (tmp_path / "x").write_bytes(data)
    source = LineSource(tmp_path / "x")
    for _ in range(2):
        if error is None:
            read(source)
        else:
            with pytest.raises(FormatError, match=error):
                read(source)
        assert [file.closed for file in opened] == [True]


@pytest.mark.parametrize(("name", "kind"), [("x.gz", "gzip"), ("x.BZ2", "bzip2"), ("x.xz", "xz")])
def test_a_name_that_promises_packed_data_must_hold_it(tmp_path, name, kind):
    path = tmp_path / name
    path.write_bytes(b"plain text\n")
    with pytest.raises(FormatError, match=f"holds no {kind} data, which its name promises"):
        LineSource(path)
    path.write_bytes(b"")
    with pytest.raises(FormatError, match=f"is empty; it should hold {kind} data"):
        LineSource(path)


@pytest.mark.parametrize(
    ("name", "module"), [("x.gz", gzip), ("x.bz2", bz2), ("x.xz", lzma)], ids=["gz", "bz2", "xz"]
)
def test_what_somebody_unpacks_is_read_whatever_it_is_called(tmp_path, name, module):
    path = tmp_path / name
    path.write_bytes(module.compress(b"plain text\n"))
    with module.open(path) as stream:
        if not hasattr(stream, "name"):
            stream.name = str(path)
        assert list(LineSource(stream).lines()) == [(1, "plain text\n")]
    with path.open("rb") as stream:
        assert list(LineSource(stream).lines()) == [(1, "plain text\n")]
    path.write_bytes(b"plain text\n")
    with path.open("rb") as stream, pytest.raises(FormatError, match="which its name promises"):
        LineSource(stream)


def test_a_stream_that_cannot_be_read_is_named(tmp_path):
    path = tmp_path / "x"
    with path.open("wb") as stream, pytest.raises(FileError, match="x: cannot be read: read"):
        LineSource(stream)
    with path.open("rb") as closed:
        pass
    with pytest.raises(FileError, match="x: cannot be read: read of closed file"):
        LineSource(closed)


@pytest.mark.skipif(
    importlib.util.find_spec("compression") is not None, reason="this Python reads zstd"
)
def test_zstd_without_python_3_14_is_a_clear_error():
    with pytest.raises(FormatError, match=r"compressed with zstd, which Python reads from 3.14 on"):
        LineSource(io.BytesIO(b"\x28\xb5\x2f\xfd rest"))


@pytest.mark.skipif(
    importlib.util.find_spec("compression") is None, reason="zstd comes with Python 3.14"
)
def test_zstd_is_unpacked():
    zstd = importlib.import_module("compression.zstd")
    assert lines(zstd.compress(b"a\nb")) == [(1, "a\n"), (2, "b")]


def test_a_file_that_cannot_be_opened_is_one_clear_error(tmp_path):
    with pytest.raises(FileError, match=r"nowhere: there is no such file$"):
        LineSource(tmp_path / "nowhere")
    with pytest.raises(FileError, match=r"is a folder; name the files in it$"):
        LineSource(tmp_path)
    with pytest.raises(FileError, match="cannot be the name of a file"):
        LineSource("a\0b")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(FileError, match="loop: cannot be opened: "):
        LineSource(tmp_path / "loop")


def test_what_is_no_binary_source_is_refused():
    with pytest.raises(ArgumentTypeError, match="path: a str, a path or a binary stream"):
        LineSource(3)
    with pytest.raises(ArgumentTypeError, match="open it in binary mode"):
        LineSource(io.StringIO("text"))
    with pytest.raises(ArgumentError, match="errors: 'ignore' is not one of strict, replace"):
        LineSource(io.BytesIO(), errors="ignore")


def test_bad_bytes_are_replaced_on_request():
    assert lines(b"a\xffb\0c\n", errors="replace") == [(1, "a\ufffdb\0c\n")]
    with pytest.raises(FormatError, match="binary file"):
        lines(bytes(1000), errors="replace")


def test_a_long_line_is_read_whole():
    assert lines(b"x" * 10_000_000 + b"\ny") == [(1, "x" * 10_000_000 + "\n"), (2, "y")]


def test_a_name_loses_only_the_suffix_of_a_compression():
    assert plain_name("a.conllu.gz") == "a.conllu"
    assert plain_name("a.conllu") == "a.conllu"


@given(
    text=st.text("ab\n", max_size=60).map(str.encode),
    size=st.integers(1, 40),
    at_once=st.integers(1, 12),
)
def test_blocks_are_taken_whole_into_memory_that_is_used_again(text, size, at_once):
    class Dripping(io.BytesIO):
        def read1(self, wanted=-1):
            return super().read1(min(wanted, at_once))

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x")
        with open(path, "wb") as file:
            file.write(text)
        for place in (Dripping(text), path):
            with LineSource(place) as source:
                memory, taken = bytearray(size), b""
                while length := source.take_blocks_into(memory):
                    taken += memory[:length]
                    assert taken.endswith(b"\n\n")
                rest = list(source.lines())
                left = "".join(line for _, line in rest).encode()
                assert taken + left == text and b"\n\n" not in left
                assert not rest or rest[0][0] == taken.count(b"\n") + 1


def test_a_line_or_sentence_of_more_than_the_limit_is_refused_with_its_line():
    longest = b"x" * (LONGEST - 1) + b"\n"
    assert len(lines(b"a\n" + longest)) == 2
    assert len(blocks(longest[1:] + b"\n")) == 1
    with pytest.raises(FormatError, match=r"^<stream>:2: a line of more than 16 MiB; break it up$"):
        lines(b"a\nx" + longest)
    for begin in (b"x", b"# "):
        with pytest.raises(FormatError, match=r"^<stream>:3: a sentence of more than 16 MiB or "):
            blocks(b"a\n\n" + begin + longest)
    with pytest.raises(FormatError, match=r"^<stream>:3: a sentence of more than 16 MiB or "):
        blocks(b"a\n\n" + b"b\n" * (MOST_WORDS + 1))


def test_a_block_without_end_is_not_read_to_its_end_before_it_is_refused():
    class Endless(io.RawIOBase):
        given = 0

        def readable(self):
            return True

        def readinto(self, buffer):
            buffer[:] = b"# c\n" * (len(buffer) // 4) + b"#" * (len(buffer) % 4)
            self.given += len(buffer)
            return len(buffer)

    stream = Endless()
    source = LineSource(stream)
    assert source.take_blocks(1 << 18) == b""
    assert source.peek_text() is None
    assert source.scan(ConlluScanner().take) == []
    with pytest.raises(FormatError, match=r"^<stream>:1: a sentence"):
        list(source.blocks())
    assert stream.given < LONGEST + (4 << 20)


@pytest.mark.parametrize("format", ["conllu", "columns", "tagged", "lines"])
@pytest.mark.parametrize("begin", ["", "\ufeff"])
def test_a_text_whose_lines_end_in_carriage_returns_alone_is_refused(format, begin):
    rest = "\t_" * 6 + "\n"
    text = {
        "conllu": f"# text = a b\n1\ta\t_\tX{rest}2\tb\t_\tX{rest}\n",
        "columns": "a\tX\nb\tX\n\na\tX\n",
        "tagged": "a/X b/X\na/X b/X\n",
        "lines": "a b , c\nb c .\n",
    }[format]
    returns = io.BytesIO((begin + text.replace("\n", "\r")).encode())
    for asked in (format, "auto"):
        assert len(list(open_corpus(io.BytesIO(text.encode()), format=asked))) > 0
        with pytest.raises(FormatError, match=r"^<stream>:1: its lines end in carriage returns"):
            list(open_corpus(returns, format=asked))
        returns.seek(0)
    readers = {"conllu": read_conllu, "columns": read_columns, "tagged": read_tagged}
    with pytest.raises(FormatError, match=r"^<stream>:1: its lines end in carriage returns"):
        list(readers.get(format, read_text)(returns))


def test_carriage_returns_are_data_in_a_text_with_line_feeds_and_in_running_text():
    assert lines(b"a\rb\rc\n") == [(1, "a\rb\rc\n")]
    assert lines(b"a\r") == [(1, "a\r")]
    corpus = open_corpus(io.BytesIO(b"Go!\rStop!\r"), format="text")
    corpus.cut_by(load("en").segmenter.sentences_in)
    assert [one.words for one in corpus] == [("Go", "!"), ("Stop", "!")]
